/* Columns in memory, straight to the shuffled table. Rows kept until all are read would be in
 * memory twice, besides the caller's columns. Their number is known, and so are their places:
 * slices of rows are written there as they are read. That no row is dropped and the table is
 * dense is only known at the end; otherwise the work is discarded and the table is made like
 * others. */
#include "ingest/memory/field_reader.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/threads.h"
#include "ingest/design/design_matrix.h"
#include "ingest/design/direct_text.h"
#include "ingest/design/storage.h"
#include "table/gathered_rows.h"
#include "table/row_origin.h"
#include "table/rows.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT_COLUMNS_MIN (8.0 * 1024 * 1024) /* bytes, below which it is not worth it */
#define AHEAD              ((size_t)8)         /* rows ahead whose places are prefetched */

typedef struct {
    field_reader *r;
    design g;
    size_t *to;               /* of each row */
    formula_scratch *scratch; /* per thread */
    double max_entries;       /* entries up to which a sparse table is faster */
    atomic_size_t entries;    /* counted at least up to max_entries */
} direct_table;

/* Returns whether a table may be made this way. */
static bool is_fit(const field_reader *r, size_t n)
{
    const column_schema *p = r->schema;
    const rows_spec *spec = r->spec;
    bool large = (double)n * (double)p->width * sizeof(double) >= DIRECT_COLUMNS_MIN;
    bool sparse = storage_of(spec, 0, INFINITY) == &storage_sparse;
    return (large || spec->part_bytes > 0) && n >= 2 && !sparse && !r->matrix.cells &&
           p->categories == 0 && !formula_needs_all_rows(p->formula) &&
           storage_check(spec, NULL) == SBPS_OK;
}

/* ---- slices ---- */

/* Returns the entries of a row of the table. */
static size_t count_row(const rows *r, size_t place)
{
    const double *x = r->storage.x + place * r->stride;
    size_t sum = 0;
    for (size_t j = r->intercept; j < r->d; j++) sum += x[j] != 0.0;
    return sum;
}

static size_t put_run(const direct_table *m, const formula_scratch *scratch, const row_run *run,
                      size_t width, const size_t *to, bool counts)
{
    const rows *r = m->g.r;
    size_t count = 0;
    for (size_t i = 0; i < run->rows; i++) {
        for (size_t j = 0; i + AHEAD < run->rows && j < r->stride; j += 8)
            __builtin_prefetch(r->storage.x + to[i + AHEAD] * r->stride + j, 1);
        design_put(&m->g, scratch, run->first + i * width, to[i]);
        if (counts) count += count_row(r, to[i]);
    }
    return count;
}

static void put_slice(void *self, unsigned worker, size_t first, const chunks *read)
{
    direct_table *m = self;
    bool counts = (double)atomic_load(&m->entries) <= m->max_entries;
    for (size_t k = 0; k < read->runs; k++) {
        const row_run *run = &read->run[k];
        size_t count = put_run(m, &m->scratch[worker], run, read->width,
                               m->to + first + run->before, counts);
        atomic_fetch_add(&m->entries, count);
    }
}

/* ---- table ---- */

static sbps_status prepare_table(direct_table *m, size_t n, sbps_error *err)
{
    rows *r = m->g.r;
    const formula *f = m->r->schema->formula;
    const rows_spec *spec = m->r->spec;
    r->local_rows = n;
    r->table.seed = spec->seed;
    r->table.in_order = spec->in_order;
    m->max_entries = storage_depends(spec) ? storage_max_entries(r) : -1.0;
    m->to = r->table.in_order ? same_places(n) : shuffled_places(spec->seed, n, m->g.threads);
    m->scratch = calloc(m->g.threads, sizeof *m->scratch);
    bool ready = m->to && m->scratch;
    for (unsigned w = 0; ready && f && w < m->g.threads; w++)
        ready = scratch_open(f, &m->scratch[w], err) == SBPS_OK;
    return ready ? design_allocate(&m->g, (double)n * sizeof *m->to, err) : fail_memory(err);
}

static sbps_status finish(direct_table *m, sbps_error *err)
{
    const rows_spec *spec = m->r->spec;
    sbps_status status = design_finish(&m->g, err);
    bool single = storage_of(spec, m->g.r->stride, NAN) == &storage_float;
    return status == SBPS_OK && single ? design_to_floats(&m->g, err) : status;
}

static sbps_status place_rows(direct_table *m, const field *fields, size_t n, bool *whole,
                              sbps_error *err)
{
    field_purpose *purpose = &m->r->purpose;
    sbps_status status = prepare_table(m, n, err);
    purpose->put = put_slice;
    purpose->putter = m;
    if (status == SBPS_OK) status = field_reader_add(m->r, fields, n, err);
    purpose->put = NULL;
    for (unsigned w = 0; m->scratch && w < m->g.threads; w++) scratch_close(&m->scratch[w]);
    free(m->scratch);
    free(m->to);
    m->scratch = NULL;
    m->to = NULL;
    *whole = m->r->dropped == 0 && (double)atomic_load(&m->entries) > m->max_entries;
    return status == SBPS_OK && *whole ? finish(m, err) : status;
}

sbps_status direct_columns_create(field_reader *r, const field *fields, size_t n, rows **out,
                                  sbps_error *err)
{
    direct_table m = {.r = r};
    bool whole = false;
    *out = NULL;
    if (!is_fit(r, n)) return SBPS_OK;
    sbps_status status = design_open(r->schema, r->spec, NULL, &m.g, err);
    if (status == SBPS_OK) status = place_rows(&m, fields, n, &whole, err);
    if (status == SBPS_OK && whole) {
        *out = m.g.r;
        (*out)->table.dropped = 0;
        m.g.r = NULL;
    }
    design_close(&m.g);
    if (status == SBPS_OK && !whole) field_reader_rewind(r);
    return status;
}

/* ==== columns that stay where they are ==== */

/* --storage given. Only columns of doubles without missing values that are columns of the
 * design themselves can stay in the caller's memory. The table stores their order, and a copy
 * of the target in that order. */
#define PIECE ((size_t)65536) /* rows per piece of work */

typedef struct {
    const field_reader *r;
    const field *fields;
    size_t n;
    design g;
    atomic_size_t wrong; /* first row with a number that is not finite; n: none */
} borrowed_table;

bool borrowed_columns_requested(const rows_spec *spec)
{
    return spec->storage && !strcmp(spec->storage, storage_borrowed.name);
}

static sbps_status refuse_borrowing(const char *why, sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG, "--storage given: %s; leave --storage out", why);
}

static sbps_status check_borrowable(const borrowed_table *job, sbps_error *err)
{
    const column_schema *p = job->r->schema;
    const rows_spec *spec = job->r->spec;
    if (spec->needs_doubles) return refuse_borrowing("the model needs storage double", err);
    if (spec->standardize)
        return refuse_borrowing("--standardize needs a copy of the numbers", err);
    if (job->n > UINT32_MAX) return refuse_borrowing("there are more than 2^32 rows", err);
    if (job->n < 2) return refuse_borrowing("there are fewer than two rows", err);
    if (p->categories > 0)
        return refuse_borrowing("a column of text or levels has no numbers", err);
    if (p->weight_slot != SIZE_MAX || p->offset_slot != SIZE_MAX || p->trials != SIZE_MAX)
        return refuse_borrowing("weights, offsets and trials are not supported", err);
    if (p->formula && formula_needs_all_rows(p->formula))
        return refuse_borrowing("the formula has groups, or transforms of all rows", err);
    if (p->target == SIZE_MAX) return refuse_borrowing("the target is not a column", err);
    for (size_t c = 0; c < p->columns->count; c++)
        if (p->use[c].kind != USE_NONE && p->use[c].kind != USE_NUMBER)
            return refuse_borrowing("a column holds dates, or numbers that mean missing values",
                                    err);
    return SBPS_OK;
}

/* ---- missing values ---- */

/* Lowers job->wrong to the first row of a column that is not finite. */
static void check_column_values(borrowed_table *job, size_t column, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        double value = NAN;
        if (field_number(&job->fields[column], i, &value) == FIELD_CELL && isfinite(value))
            continue;
        for (size_t known = atomic_load(&job->wrong);
             i < known && !atomic_compare_exchange_weak(&job->wrong, &known, i);)
            continue;
        return;
    }
}

static void check_piece(void *self, unsigned worker, size_t index)
{
    borrowed_table *job = self;
    const column_schema *p = job->r->schema;
    size_t first = index * PIECE, end = first + PIECE < job->n ? first + PIECE : job->n;
    (void)worker;
    for (size_t c = 0; c < p->columns->count; c++)
        if (p->use[c].kind != USE_NONE) check_column_values(job, c, first, end);
}

/* Fails with the message that any reader has for the row. */
static sbps_status fail_row(const borrowed_table *job, size_t row, sbps_error *err)
{
    const column_schema *p = job->r->schema;
    double value, *slots = new_doubles(p->width);
    bool missing = false;
    sbps_status status = slots ? SBPS_OK : fail_memory(err);
    for (size_t c = 0; status == SBPS_OK && c < p->columns->count; c++) {
        if (p->use[c].kind == USE_NONE) continue;
        if (field_number(&job->fields[c], row, &value) != FIELD_CELL) value = NAN;
        status = schema_read_number(p, c, value, row + 1, slots, &missing, err);
    }
    free(slots);
    if (status != SBPS_OK) return status;
    return refuse_borrowing("rows with missing cells would have to be dropped", err);
}

static sbps_status check_numbers(borrowed_table *job, unsigned threads, sbps_error *err)
{
    atomic_init(&job->wrong, job->n);
    sbps_status status =
        workers_run(threads, (job->n + PIECE - 1) / PIECE, check_piece, job, err);
    size_t row = atomic_load(&job->wrong);
    return status == SBPS_OK && row < job->n ? fail_row(job, row, err) : status;
}

/* ---- places ---- */

static bool is_doubles(const field *f)
{
    return f->kind == &field_numbers && f->value == &value_double && !f->validity &&
           f->unit == 1.0;
}

static sbps_status place_column(const borrowed_table *job, size_t j, sbps_error *err)
{
    const column_schema *p = job->r->schema;
    const rows *r = job->g.r;
    for (size_t c = 0; c < p->columns->count; c++) {
        const field *f = &job->fields[c];
        if (p->use[c].kind == USE_NONE || strcmp(p->columns->name[c], r->table.names[j]))
            continue;
        if (!is_doubles(f)) break;
        r->storage.place[j] =
            (column_place){f->values + (ptrdiff_t)f->first * f->stride, f->stride};
        return SBPS_OK;
    }
    return fail(
        err, SBPS_BAD_ARG,
        "--storage given: column '%s' of the design is not a column of doubles in memory; "
        "leave --storage out",
        show_name(r->table.names[j]).text);
}

static sbps_status place_columns(const borrowed_table *job, sbps_error *err)
{
    rows *r = job->g.r;
    if (r->stride > GATHERED_DOUBLES) return refuse_borrowing("rows are too long", err);
    r->storage.place = calloc(r->d + 1, sizeof *r->storage.place);
    sbps_status status = r->storage.place ? SBPS_OK : fail_memory(err);
    for (size_t j = r->intercept; status == SBPS_OK && j < r->d; j++)
        status = place_column(job, j, err);
    return status;
}

static void take_targets(void *self, unsigned worker, size_t index)
{
    const borrowed_table *job = self;
    rows *r = job->g.r;
    const field *target = &job->fields[job->r->schema->target];
    size_t first = index * PIECE,
           end = first + PIECE < r->local_rows ? first + PIECE : r->local_rows;
    (void)worker;
    for (size_t i = first; i < end; i++)
        field_number(target, r->storage.source_row[i], &r->y[i]);
}

static sbps_status build_table(borrowed_table *job, sbps_error *err)
{
    rows *r = job->g.r;
    r->local_rows = job->n;
    r->table.seed = job->r->spec->seed;
    r->storage.kind = &storage_borrowed;
    r->storage.source_row = shuffled_sources(r->table.seed, r->local_rows, job->g.threads);
    r->y = unset_doubles(r->local_rows);
    r->table.mean = new_doubles(r->d);
    r->table.sd = new_doubles(r->d);
    if (!r->storage.source_row || !r->y || !r->table.mean || !r->table.sd)
        return fail_memory(err);
    sbps_status status = workers_run(job->g.threads, (r->local_rows + PIECE - 1) / PIECE,
                                     take_targets, job, err);
    return status == SBPS_OK ? design_finish(&job->g, err) : status;
}

sbps_status borrowed_columns_create(const field_reader *r, const field *fields, size_t n,
                                    rows **out, sbps_error *err)
{
    borrowed_table job = {.r = r, .fields = fields, .n = n};
    sbps_status status = check_borrowable(&job, err);
    if (status != SBPS_OK) return status;
    status = design_open(r->schema, r->spec, NULL, &job.g, err);
    if (status == SBPS_OK) status = place_columns(&job, err);
    if (status == SBPS_OK) status = check_numbers(&job, job.g.threads, err);
    if (status == SBPS_OK) status = build_table(&job, err);
    if (status == SBPS_OK) {
        *out = job.g.r;
        job.g.r = NULL;
    }
    design_close(&job.g);
    return status;
}
