/* How a table is stored.
 *
 * The products of a row with two vectors cost, on a table that lies in cache,
 *
 *   dense   0.11 ns for each of the stride's doubles
 *   sparse  2.6 ns and 0.43 ns for each entry
 *
 * (Zen 4, AVX-512; combinations are alike), so that sparse rows are cheaper when
 *
 *   4 (entries a row + 6) <= stride.                                                        (1)
 *
 * Out of cache, where bytes decide, they are cheaper long before; (1) is then on the safe side. */
#include "read/storage.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_COST 4
#define ROW_COST   6

void entries_clear(entries *e)
{
    free(e->column);
    free(e->value);
    *e = (entries){0};
}

/* start[i + 1] = entries of row i, and their total. */
static sbps_status count_entries(design *g, chunks *read, const size_t *to, entries *e,
                                 sbps_error *err)
{
    rows *r = g->r;
    r->start = calloc(r->n + 1, sizeof *r->start);
    e->column = calloc(g->plan->features + 1, sizeof *e->column);
    e->value = calloc(g->plan->features + 1, sizeof *e->value);
    if (!r->start || !e->column || !e->value) return fail_memory(err);
    e->ones = true;
    for (size_t i = 0; i < r->n; i++) {
        size_t n = design_entries(g, chunks_row(read, i), e->column, e->value);
        for (size_t k = 0; k < n; k++) e->ones = e->ones && e->value[k] == 1.0;
        r->start[to[i] + 1] = n;
        e->total += n;
    }
    return SBPS_OK;
}

/* (1), for entries a row. */
static bool sparse_pays(size_t stride, double each)
{
    return ENTRY_COST * (each + ROW_COST) <= (double)stride;
}

static bool asks_for(const rows_spec *spec, const storage_kind *kind)
{
    const char *wanted = given_text(spec->storage);
    return wanted && strcmp(wanted, kind->name) == 0;
}

static bool is_free(const rows_spec *spec)
{
    const char *wanted = given_text(spec->storage);
    return (!wanted || strcmp(wanted, "auto") == 0) && !spec->needs_doubles &&
           !spec->standardize;
}

sbps_status storage_fits(const plan *p, const rows_spec *spec, sbps_error *err)
{
    double n = (double)p->columns->rows, d = (double)p->features;
    bool pays = is_free(spec) && sparse_pays(p->features, p->columns->filled * d);
    if (pays || asks_for(spec, &storage_sparse)) return SBPS_OK;
    return memory_holds(p->path, n, d, n * d * sizeof(double) * (1 + p->columns->filled), err);
}

static sbps_status make_sparse(rows *r, const entries *e, sbps_error *err)
{
    for (size_t i = 0; i < r->n; i++) r->start[i + 1] += r->start[i];
    r->column = malloc((e->total + 1) * sizeof *r->column);
    if (!e->ones) r->value = malloc((e->total + 1) * sizeof *r->value);
    if (!r->column || (!e->ones && !r->value)) return fail_memory(err);
    r->storage = &storage_sparse;
    return SBPS_OK;
}

static sbps_status refuse(const design *g, const char *wanted, sbps_error *err)
{
    if (g->spec->needs_doubles)
        return fail(err, SBPS_BAD_ARG,
                    "--storage %s: the model reads rows of doubles; leave --storage out",
                    wanted);
    return fail(
        err, SBPS_BAD_ARG,
        "--storage sparse: standardised columns have no zeros; leave --standardize out, "
        "or take --storage double or float");
}

sbps_status storage_choose(design *g, chunks *read, const size_t *to, entries *e,
                           const storage_kind **out, sbps_error *err)
{
    rows *r = g->r;
    const rows_spec *spec = g->spec;
    bool sparse = asks_for(spec, &storage_sparse), single = asks_for(spec, &storage_float);
    *out = single ? &storage_float : &storage_double;
    if ((sparse || single) && spec->needs_doubles) return refuse(g, spec->storage, err);
    if (sparse && spec->standardize) return refuse(g, spec->storage, err);
    if (!sparse && !is_free(spec)) return SBPS_OK;
    sbps_status status = count_entries(g, read, to, e, err);
    if (status != SBPS_OK) return status;
    if (sparse || sparse_pays(r->stride, (double)e->total / (double)r->n)) {
        *out = &storage_sparse;
        return make_sparse(r, e, err);
    }
    free(r->start);
    r->start = NULL;
    return SBPS_OK;
}

void sparse_put(design *g, const double *row, size_t to, entries *e)
{
    rows *r = g->r;
    size_t n = design_entries(g, row, e->column, e->value);
    memcpy(r->column + r->start[to], e->column, n * sizeof *e->column);
    if (r->value) memcpy(r->value + r->start[to], e->value, n * sizeof *e->value);
}
