/* Where rows go is known, and so are the columns that they become: they are read once more, and each goes to the rank
 * that keeps it. Sparse rows are first counted, by a look of their own. */
#include "read/share_table.h"

#include "data/hash.h"
#include "data/share.h"
#include "read/passage.h"
#include "read/share_deal.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const sharing *of;
    design g;
} making;

share_cursor share_cursor_of(const sharing *s, plan *by)
{
    return (share_cursor){.files = s->files,
                          .spec = s->spec,
                          .found = s->found,
                          .first = &s->first,
                          .cut = &s->cut,
                          .plan = by,
                          .breaks = s->breaks};
}

/* ---- rows as they come ---- */

typedef struct {
    const design *g;
    entries *each; /* of each thread, as are */
    formula_scratch *scratch;
    unsigned threads;
} placing_rows;

static void put_row(void *self, unsigned worker, const double *row, size_t to)
{
    const placing_rows *p = self;
    if (!p->g->r->start) {
        design_put(p->g, &p->scratch[worker], row, to);
        return;
    }
    put_beside(p->g, row, to);
    sparse_put(p->g, row, to, &p->each[worker]);
}

static size_t count_row(const placing_rows *p, unsigned worker, const double *row)
{
    entries *e = &p->each[worker];
    size_t n = design_entries(p->g, e->scratch, row, e->column, e->value);
    for (size_t k = 0; k < n; k++) e->ones = e->ones && e->value[k] == 1.0;
    e->total += n;
    return n;
}

static void count_at(void *self, unsigned worker, const double *row, size_t to)
{
    const placing_rows *p = self;
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

static sbps_status open_placing(design *g, placing_rows *p, sbps_error *err)
{
    *p = (placing_rows){.g = g, .threads = g->threads};
    p->each = calloc(p->threads, sizeof *p->each);
    p->scratch = calloc(p->threads, sizeof *p->scratch);
    sbps_status status = p->each && p->scratch ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = entries_open(g, p->threads, p->each, err);
    for (unsigned w = 0; status == SBPS_OK && w < p->threads; w++) {
        p->each[w].scratch = &p->scratch[w];
        if (g->plan->formula) status = scratch_open(g->plan->formula, &p->scratch[w], err);
    }
    return status;
}

static void close_placing(placing_rows *p)
{
    if (p->each) entries_clear(p->each, p->threads);
    for (unsigned w = 0; p->scratch && w < p->threads; w++) scratch_close(&p->scratch[w]);
    free(p->each);
    free(p->scratch);
}

/* ---- the table ---- */

/* A formula's entries are known when its rows are evaluated: by one look more, where it matters. */
static sbps_status count_entries(making *s, placing_rows *p, plan *codes, double *all,
                                 sbps_error *err)
{
    const row_taker taker = {count_here, p, false};
    share_cursor c = share_cursor_of(s->of, codes);
    const rows *r = s->g.r;
    c.told = HALF_WAY;
    if (!s->g.plan->formula) {
        *all = (double)(s->of->verdict.numbers + category_entries(&s->g));
        return SBPS_OK;
    }
    sbps_status status = share_cursor_read(&c, SIZE_MAX, &taker, err);
    share_cursor_close(&c);
    if (status == SBPS_OK) *all = rows_total(r, (double)p->each->total);
    p->each->total = 0;
    p->each->ones = true;
    return status;
}

static sbps_status choose_storage(making *s, placing_rows *p, plan *codes,
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

static sbps_status deal_rows(making *s, plan *codes, row_deal *deal, share_sink sink,
                             placing_rows *p, sbps_error *err)
{
    share_cursor c = share_cursor_of(s->of, codes);
    c.told = HALF_WAY;
    c.more = sink == put_row ? HALF_WAY : 0.0;
    sbps_status status = share_deal_rows(&c, deal, p->threads, sink, p, err);
    share_cursor_close(&c);
    return status;
}

/* Rows are counted entry by entry before there is room for them. */
static sbps_status make_sparse(making *s, plan *codes, row_deal *deal, placing_rows *p,
                               sbps_error *err)
{
    rows *r = s->g.r;
    r->start = calloc(r->n + 1, sizeof *r->start);
    sbps_status status =
        r->start ? deal_rows(s, codes, deal, count_at, p, err) : fail_memory(err);
    if (status != SBPS_OK) return status;
    for (unsigned w = 1; w < p->threads; w++) {
        p->each->total += p->each[w].total;
        p->each->ones = p->each->ones && p->each[w].ones;
    }
    p->each->ones = !rows_any(r, !p->each->ones);
    return sparse_create(r, p->each, err);
}

/* Room, and the rows into it; those too that complete the last piece that begins here. */
static sbps_status fill(making *s, plan *codes, const storage_kind *storage, placing_rows *p,
                        sbps_error *err)
{
    rows *r = s->g.r;
    row_deal deal;
    bool sparse = storage == &storage_sparse;
    const deal_rule rule = {s->of->spec->seed, s->of->spec->in_order, s->of->verdict.kept,
                            sparse ? 1 : HASH_ROWS};
    sbps_status status = row_deal_open(s->of->among, &rule, s->of->verdict.before,
                                       s->of->report.kept, &deal, err);
    if (status == SBPS_OK) {
        size_t own = r->n;
        s->g.held = row_deal_rows(&deal);
        if (sparse) status = make_sparse(s, codes, &deal, p, err);
        r->n = s->g.held;
        if (status == SBPS_OK) status = design_allocate(&s->g, 0.0, err);
        r->n = own;
        if (status == SBPS_OK) status = deal_rows(s, codes, &deal, put_row, p, err);
    }
    row_deal_close(&deal);
    return status;
}

/* The same levels by the same codes, whose rows nobody counts. */
static bool fork_codes(const plan *p, plan *out)
{
    bool whole = plan_fork(p, out);
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
    plan codes = {0};
    placing_rows p = {0};
    sbps_status status =
        fork_codes(s->of->first.plan, &codes) ? open_placing(&s->g, &p, err) : fail_memory(err);
    if (status == SBPS_OK) status = choose_storage(s, &p, &codes, storage, err);
    if (status == SBPS_OK) status = fill(s, &codes, *storage, &p, err);
    close_placing(&p);
    if (codes.columns) plan_close_fork(&codes);
    return status;
}

static sbps_status make_share(making *s, sbps_error *err)
{
    rows *r = s->g.r;
    sbps_status status = share_create(s->of->verdict.kept, s->of->among, &r->share, err);
    if (status != SBPS_OK) return status;
    r->n = share_begin(r->share->whole, s->of->among->size, s->of->among->rank + 1) -
           r->share->first;
    r->seed = s->of->spec->seed;
    r->in_order = s->of->spec->in_order;
    return SBPS_OK;
}

sbps_status share_table(const sharing *of, rows **out, sbps_error *err)
{
    making m = {.of = of}, *s = &m;
    const storage_kind *storage = NULL;
    sbps_status status = design_open(of->first.plan, of->spec, NULL, &s->g, err);
    if (status == SBPS_OK) status = make_share(s, err);
    if (status == SBPS_OK) status = fill_by_codes(s, &storage, err);
    if (status == SBPS_OK) status = design_finish(&s->g, err);
    if (status == SBPS_OK && storage == &storage_float) status = design_to_floats(&s->g, err);
    if (status == SBPS_OK) {
        share_agree(s->g.r);
        s->g.r->dropped = of->verdict.dropped;
        *out = s->g.r;
        s->g.r = NULL;
    }
    design_close(&s->g);
    return status;
}
