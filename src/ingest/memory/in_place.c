/* A table that is looked at where it lies. Of the caller's columns only those can be that are columns of the design as they
 * are: doubles, none of them missing. Their order is kept beside them, and a copy of the target in that order. */
#include "ingest/memory/in_place.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/threads.h"
#include "ingest/design/design_matrix.h"
#include "ingest/design/direct_text.h"
#include "table/gathered_rows.h"
#include "table/row_origin.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)65536) /* rows */

typedef struct {
    const field_reader *r;
    const field *fields;
    size_t n;
    design g;
    atomic_size_t wrong; /* the first row with a number that is not finite; n: none */
} borrowed_table;

bool in_place_requested(const rows_spec *spec)
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
    if (spec->needs_doubles) return refuse_borrowing("the model wants rows side by side", err);
    if (spec->standardize)
        return refuse_borrowing("standardised numbers are others than yours", err);
    if (job->n > UINT32_MAX) return refuse_borrowing("there are more than 2^32 rows", err);
    if (job->n < 2) return refuse_borrowing("there are less than two rows", err);
    if (p->categories > 0)
        return refuse_borrowing("a column of text or levels has no numbers to look at", err);
    if (p->weight_slot != SIZE_MAX || p->offset_slot != SIZE_MAX || p->trials != SIZE_MAX)
        return refuse_borrowing("weights, offsets and trials are not looked at", err);
    if (p->formula && formula_waits(p->formula))
        return refuse_borrowing("the formula has groups, or functions of all rows", err);
    if (p->target == SIZE_MAX) return refuse_borrowing("the target is no column", err);
    for (size_t c = 0; c < p->columns->count; c++)
        if (p->use[c].kind != USE_NONE && p->use[c].kind != USE_NUMBER)
            return refuse_borrowing("a column holds dates, or numbers that mean missing ones",
                                    err);
    return SBPS_OK;
}

/* ---- are all numbers there? ---- */

static void see_column(borrowed_table *job, size_t column, size_t first, size_t end)
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

static void see_piece(void *self, unsigned worker, size_t index)
{
    borrowed_table *job = self;
    const column_schema *p = job->r->schema;
    size_t first = index * PIECE, end = first + PIECE < job->n ? first + PIECE : job->n;
    (void)worker;
    for (size_t c = 0; c < p->columns->count; c++)
        if (p->use[c].kind != USE_NONE) see_column(job, c, first, end);
}

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
    return refuse_borrowing("rows with missing cells cannot be dropped from your memory", err);
}

static sbps_status check_numbers(borrowed_table *job, unsigned threads, sbps_error *err)
{
    atomic_init(&job->wrong, job->n);
    sbps_status status =
        workers_run(threads, (job->n + PIECE - 1) / PIECE, see_piece, job, err);
    size_t row = atomic_load(&job->wrong);
    return status == SBPS_OK && row < job->n ? fail_row(job, row, err) : status;
}

/* ---- where they lie ---- */

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
    return fail(err, SBPS_BAD_ARG,
                "--storage given: column '%s' of the design is no column of doubles of yours; "
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

sbps_status in_place_create(const field_reader *r, const field *fields, size_t n, rows **out,
                            sbps_error *err)
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
