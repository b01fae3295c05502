/* Where rows go is known, and so are the columns that they become: they are read once more, and each goes to the rank
 * that keeps it. Sparse rows are first counted, by a look of their own. */
#include "ingest/distributed/partition_table.h"

#include "ingest/design/shuffle_stream.h"
#include "ingest/distributed/partition_scatter.h"
#include "table/hash.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const distributed_read *of;
    design g;
} making;

partition_cursor partition_cursor_start(const distributed_read *s, column_schema *by)
{
    return (partition_cursor){.files = s->files,
                              .spec = s->spec,
                              .types = s->types,
                              .first = &s->first,
                              .cut = &s->cut,
                              .schema = by,
                              .breaks = s->breaks};
}

/* ---- rows as they come ---- */

typedef struct {
    const design *g;
    entries *each; /* of each thread, as are */
    formula_scratch *scratch;
    unsigned threads;
} direct_table;

static void put_row(void *self, unsigned worker, const double *row, size_t to)
{
    const direct_table *p = self;
    if (!p->g->r->start) {
        design_put(p->g, &p->scratch[worker], row, to);
        return;
    }
    put_beside(p->g, row, to);
    sparse_put(p->g, row, to, &p->each[worker]);
}

static size_t count_row(const direct_table *p, unsigned worker, const double *row)
{
    entries *e = &p->each[worker];
    size_t n = design_entries(p->g, e->scratch, row, e->column, e->value);
    for (size_t k = 0; k < n; k++) e->ones = e->ones && e->value[k] == 1.0;
    e->total += n;
    return n;
}

static void count_at(void *self, unsigned worker, const double *row, size_t to)
{
    const direct_table *p = self;
    p->g->r->start[to + 1] = count_row(p, worker, row);
}

static sbps_status count_here(void *self, chunks *read, sbps_error *err)
{
    (void)err;
    for (size_t k = 0; k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++)
            count_row(self, 0, read->run[k].first + i * read->width);
    return SBPS_OK;
}

static sbps_status open_placing(design *g, direct_table *p, sbps_error *err)
{
    *p = (direct_table){.g = g, .threads = g->threads};
    p->each = calloc(p->threads, sizeof *p->each);
    p->scratch = calloc(p->threads, sizeof *p->scratch);
    sbps_status status = p->each && p->scratch ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = entries_open(g, p->threads, p->each, err);
    for (unsigned w = 0; status == SBPS_OK && w < p->threads; w++) {
        p->each[w].scratch = &p->scratch[w];
        if (g->schema->formula) status = scratch_open(g->schema->formula, &p->scratch[w], err);
    }
    return status;
}

static void close_placing(direct_table *p)
{
    if (p->each) entries_clear(p->each, p->threads);
    for (unsigned w = 0; p->scratch && w < p->threads; w++) scratch_close(&p->scratch[w]);
    free(p->each);
    free(p->scratch);
}

/* ---- the table ---- */

/* A formula's entries are known when its rows are evaluated: by one look more, where it matters. */
static sbps_status count_entries(making *s, direct_table *p, column_schema *codes, double *all,
                                 sbps_error *err)
{
    const row_taker taker = {count_here, p, false};
    partition_cursor c = partition_cursor_start(s->of, codes);
    const rows *r = s->g.r;
    c.progress_base = HALF_WAY;
    if (!s->g.schema->formula) {
        *all = (double)(s->of->verdict.numbers + category_entries(&s->g));
        return SBPS_OK;
    }
    sbps_status status = partition_cursor_read(&c, SIZE_MAX, &taker, err);
    partition_cursor_close(&c);
    if (status == SBPS_OK) *all = rows_total(r, (double)p->each->total);
    p->each->total = 0;
    p->each->ones = true;
    return status;
}

static sbps_status choose_storage(making *s, direct_table *p, column_schema *codes,
                                  const storage_kind **out, sbps_error *err)
{
    const rows *r = s->g.r;
    double all = NAN, whole = (double)s->of->verdict.kept;
    sbps_status status = storage_check(s->of->spec, err);
    bool open = storage_of(s->of->spec, r->stride, 0.0) == &storage_sparse;
    if (status == SBPS_OK && storage_depends(s->of->spec) && open)
        status = count_entries(s, p, codes, &all, err);
    *out = storage_of(s->of->spec, r->stride, all / whole);
    return status;
}

static sbps_status scatter_stretch(making *s, column_schema *codes, row_scatter *scatter,
                                   scatter_sink sink, direct_table *p, sbps_error *err)
{
    partition_cursor c = partition_cursor_start(s->of, codes);
    c.progress_base = HALF_WAY;
    c.more = sink == put_row ? HALF_WAY : 0.0;
    sbps_status status = partition_scatter_rows(&c, scatter, p->threads, sink, p, err);
    partition_cursor_close(&c);
    return status;
}

/* Rows are counted entry by entry before there is room for them. */
static sbps_status make_sparse(making *s, column_schema *codes, row_scatter *scatter,
                               direct_table *p, sbps_error *err)
{
    rows *r = s->g.r;
    r->start = calloc(r->n + 1, sizeof *r->start);
    sbps_status status =
        r->start ? scatter_stretch(s, codes, scatter, count_at, p, err) : fail_memory(err);
    if (status != SBPS_OK) return status;
    for (unsigned w = 1; w < p->threads; w++) {
        p->each->total += p->each[w].total;
        p->each->ones = p->each->ones && p->each[w].ones;
    }
    p->each->ones = !rows_any(r, !p->each->ones);
    return sparse_create(r, p->each, err);
}

/* Room, and the rows into it; those too that complete the last piece that begins here. */
static sbps_status fill_partition(making *s, column_schema *codes, const storage_kind *storage,
                                  direct_table *p, sbps_error *err)
{
    rows *r = s->g.r;
    row_scatter scatter;
    bool sparse = storage == &storage_sparse;
    const scatter_rule rule = {s->of->spec->seed, s->of->spec->in_order, s->of->verdict.kept,
                               sparse ? 1 : HASH_ROWS};
    sbps_status status = row_scatter_open(s->of->among, &rule, s->of->verdict.before,
                                          s->of->report.kept, &scatter, err);
    if (status == SBPS_OK) {
        size_t own = r->n;
        s->g.held = row_scatter_rows(&scatter);
        if (sparse) status = make_sparse(s, codes, &scatter, p, err);
        r->n = s->g.held;
        if (status == SBPS_OK) status = design_allocate(&s->g, 0.0, err);
        r->n = own;
        if (status == SBPS_OK) status = scatter_stretch(s, codes, &scatter, put_row, p, err);
    }
    row_scatter_close(&scatter);
    return status;
}

/* The same levels by the same codes, whose rows nobody counts. */
static bool fork_codes(const column_schema *p, column_schema *out)
{
    bool whole = schema_fork(p, out);
    for (size_t i = 0; whole && i < p->columns->count; i++) {
        const levels *l = p->use[i].levels;
        size_t *code = malloc(((l ? l->count : 0) + 1) * sizeof *code);
        whole = code && (!l || levels_merge(out->use[i].levels, l, code));
        free(code);
    }
    return whole;
}

static sbps_status fill_by_codes(making *s, const storage_kind **storage, sbps_error *err)
{
    column_schema codes = {0};
    direct_table p = {0};
    sbps_status status = fork_codes(s->of->first.schema, &codes) ? open_placing(&s->g, &p, err)
                                                                 : fail_memory(err);
    if (status == SBPS_OK) status = choose_storage(s, &p, &codes, storage, err);
    if (status == SBPS_OK) status = fill_partition(s, &codes, *storage, &p, err);
    close_placing(&p);
    if (codes.columns) schema_close_fork(&codes);
    return status;
}

static sbps_status create_partition(making *s, sbps_error *err)
{
    rows *r = s->g.r;
    sbps_status status =
        partition_create(s->of->verdict.kept, s->of->among, &r->partition, err);
    if (status != SBPS_OK) return status;
    r->n = partition_begin(r->partition->whole, s->of->among->size, s->of->among->rank + 1) -
           r->partition->first;
    r->seed = s->of->spec->seed;
    r->in_order = s->of->spec->in_order;
    return SBPS_OK;
}

sbps_status partition_build_table(const distributed_read *of, rows **out, sbps_error *err)
{
    making m = {.of = of}, *s = &m;
    const storage_kind *storage = NULL;
    sbps_status status = design_open(of->first.schema, of->spec, NULL, &s->g, err);
    if (status == SBPS_OK) status = create_partition(s, err);
    if (status == SBPS_OK) status = fill_by_codes(s, &storage, err);
    if (status == SBPS_OK) status = design_finish(&s->g, err);
    if (status == SBPS_OK && storage == &storage_float) status = design_to_floats(&s->g, err);
    if (status == SBPS_OK) {
        partition_set_origin(s->g.r);
        s->g.r->dropped = of->verdict.dropped;
        *out = s->g.r;
        s->g.r = NULL;
    }
    design_close(&s->g);
    return status;
}
