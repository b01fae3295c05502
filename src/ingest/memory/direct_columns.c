/* Rows that are kept until all are read are there twice, beside the caller's own. Where their number is known, so are their
 * places in the shuffled table: slices of rows go there as they are read. That none is dropped, and that so many cells are
 * not 0 that the table is dense, is found out on the way; else it is given up and made as others are. */
#include "ingest/memory/direct_columns.h"

#include "ingest/design/direct_text.h"
#include "ingest/design/storage.h"
#include "table/row_storage.h"
#include "table/row_origin.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT_COLUMNS_MIN (8.0 * 1024 * 1024) /* bytes, below which it does not matter */
#define AHEAD              ((size_t)8) /* rows whose places are asked for before they are written */

typedef struct {
    field_reader *r;
    design g;
    size_t *to;               /* the place of each row */
    formula_scratch *scratch; /* of each thread */
    double max_entries;       /* entries up to which the table may be sparse */
    atomic_size_t entries;    /* counted up to there */
} direct_table;

static bool is_fit(const field_reader *r, size_t n)
{
    const column_schema *p = r->schema;
    const rows_spec *spec = r->spec;
    bool large = (double)n * (double)p->width * sizeof(double) >= DIRECT_COLUMNS_MIN;
    bool sparse = storage_of(spec, 0, INFINITY) == &storage_sparse;
    return (large || spec->part_bytes > 0) && n >= 2 && !sparse && !r->matrix.cells &&
           p->categories == 0 && !formula_waits(p->formula) &&
           storage_check(spec, NULL) == SBPS_OK;
}

/* ---- slices ---- */

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

/* ---- all of it ---- */

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

static void release_scratch(direct_table *m)
{
    for (unsigned w = 0; m->scratch && w < m->g.threads; w++) scratch_close(&m->scratch[w]);
    free(m->scratch);
    free(m->to);
    m->scratch = NULL;
    m->to = NULL;
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
    release_scratch(m);
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
