/* The choice of a table's storage.
 *
 * The products of a row with two vectors cost, for a table in cache,
 *
 *   dense   0.11 ns for each of the stride's doubles
 *   sparse  2.6 ns and 0.43 ns for each entry
 *
 * (Zen 4, AVX-512; linear combinations cost about the same), so that sparse rows are faster
 * when
 *
 *   4 (entries per row + 6) <= stride.                                                      (1)
 *
 * Out of cache, where bytes count, they are faster well before; (1) is then on the safe
 * side. */
#include "ingest/design/storage.h"

#include "core/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_COST 4
#define ROW_COST   6

/* (1), for `each` entries per row. */
static bool sparse_pays(size_t stride, double each)
{
    return ENTRY_COST * (each + ROW_COST) <= (double)stride;
}

sbps_status entries_open(const design *g, unsigned threads, entries *e, sbps_error *err)
{
    for (unsigned w = 0; w < threads; w++) {
        e[w] = (entries){.ones = true,
                         .column = malloc((design_max_entries(g) + 1) * sizeof *e->column),
                         .value = malloc((design_max_entries(g) + 1) * sizeof *e->value)};
        if (!e[w].column || !e[w].value) return fail_memory(err);
    }
    return SBPS_OK;
}

void entries_clear(entries *e, unsigned threads)
{
    for (unsigned w = 0; w < threads; w++) {
        free(e[w].column);
        free(e[w].value);
    }
}

typedef struct {
    const row_placement *of;
    double max_entries; /* entries beyond which the count no longer matters */
    atomic_size_t all;  /* entries counted so far */
} counting;

/* start[i + 1] = entries of row i. */
static void count_run(void *self, unsigned worker, size_t index)
{
    counting *c = self;
    const row_placement *m = c->of;
    const row_run *run = &m->read->run[index];
    entries *e = &m->each[worker];
    size_t before = e->total;
    double *at = run->first;
    if ((double)atomic_load(&c->all) > c->max_entries) return;
    for (size_t i = 0; i < run->rows; i++) {
        const double *row = run_next(m->read, &at, m->line[worker]);
        size_t n = design_entries(m->g, e->scratch, row, e->column, e->value);
        for (size_t k = 0; k < n; k++) e->ones = e->ones && e->value[k] == 1.0;
        m->g->r->storage.start[m->to[run->before + i] + 1] = n;
        e->total += n;
    }
    atomic_fetch_add(&c->all, e->total - before);
}

/* Counts the entries of all rows into the first of `each`; it may stop beyond max_entries. */
static sbps_status count_entries(const row_placement *m, double max_entries, sbps_error *err)
{
    rows *r = m->g->r;
    counting c = {.of = m, .max_entries = max_entries};
    r->storage.start = calloc(r->local_rows + 1, sizeof *r->storage.start);
    if (!r->storage.start) return fail_memory(err);
    sbps_status status = entries_open(m->g, m->threads, m->each, err);
    for (unsigned w = 0; w < m->threads; w++) m->each[w].scratch = &m->scratch[w];
    if (status == SBPS_OK) status = workers_run(m->threads, m->read->runs, count_run, &c, err);
    for (unsigned w = 1; status == SBPS_OK && w < m->threads; w++) {
        m->each->total += m->each[w].total;
        m->each->ones = m->each->ones && m->each[w].ones;
    }
    return status;
}

/* Returns whether --storage names this kind. */
static bool storage_requested(const rows_spec *spec, const storage_kind *kind)
{
    const char *requested = nonblank_text(spec->storage);
    return requested && strcmp(requested, kind->name) == 0;
}

/* Returns whether the choice is left to the program. */
static bool is_free(const rows_spec *spec)
{
    const char *requested = nonblank_text(spec->storage);
    return (!requested || strcmp(requested, "auto") == 0) && !spec->needs_doubles &&
           !spec->standardize;
}

sbps_status storage_fits(const column_schema *p, const rows_spec *spec, sbps_error *err)
{
    double n = (double)p->columns->rows, d = (double)p->features;
    bool pays = is_free(spec) && sparse_pays(p->features, p->columns->filled * d);
    if (pays || storage_requested(spec, &storage_sparse)) return SBPS_OK;
    return memory_holds(p->path, n, d, n * d * sizeof(double) * (1 + p->columns->filled), err);
}

sbps_status sparse_create(rows *r, const entries *e, sbps_error *err)
{
    for (size_t i = 0; i < r->local_rows; i++) r->storage.start[i + 1] += r->storage.start[i];
    r->storage.column = malloc((e->total + 1) * sizeof *r->storage.column);
    if (!e->ones) r->storage.value = malloc((e->total + 1) * sizeof *r->storage.value);
    if (!r->storage.column || (!e->ones && !r->storage.value)) return fail_memory(err);
    r->storage.kind = &storage_sparse;
    return SBPS_OK;
}

static sbps_status refuse_storage(const rows_spec *spec, sbps_error *err)
{
    if (spec->needs_doubles)
        return fail(err, SBPS_BAD_ARG,
                    "--storage %s: the model needs storage double; leave --storage out",
                    spec->storage);
    return fail(
        err, SBPS_BAD_ARG,
        "--storage sparse: standardised columns have no zeros; leave --standardize out, "
        "or use --storage double or float");
}

sbps_status storage_check(const rows_spec *spec, sbps_error *err)
{
    bool sparse = storage_requested(spec, &storage_sparse),
         single = storage_requested(spec, &storage_float);
    if (storage_requested(spec, &storage_borrowed))
        return fail(
            err, SBPS_BAD_ARG,
            "--storage given is for columns in a program's memory, not for files; leave "
            "--storage out");
    if ((sparse || single) && spec->needs_doubles) return refuse_storage(spec, err);
    return sparse && spec->standardize ? refuse_storage(spec, err) : SBPS_OK;
}

bool storage_depends(const rows_spec *spec)
{
    return storage_requested(spec, &storage_sparse) || is_free(spec);
}

const storage_kind *storage_of(const rows_spec *spec, size_t stride, double each)
{
    if (storage_requested(spec, &storage_float)) return &storage_float;
    bool sparse = storage_requested(spec, &storage_sparse) ||
                  (is_free(spec) && sparse_pays(stride, each));
    return sparse ? &storage_sparse : &storage_double;
}

double storage_max_entries(const rows *r)
{
    return ((double)r->stride / ENTRY_COST - ROW_COST) * (double)r->local_rows;
}

sbps_status storage_choose(const row_placement *m, const storage_kind **out, sbps_error *err)
{
    const design *g = m->g;
    rows *r = g->r;
    bool depends = storage_depends(g->spec), free_choice = is_free(g->spec);
    sbps_status status = storage_check(g->spec, err);
    if (status == SBPS_OK && depends)
        status = count_entries(m, free_choice ? storage_max_entries(r) : INFINITY, err);
    if (status != SBPS_OK) return status;
    *out = storage_of(g->spec, r->stride,
                      depends ? (double)m->each->total / (double)r->local_rows : NAN);
    if (*out == &storage_sparse) return sparse_create(r, m->each, err);
    free(r->storage.start);
    r->storage.start = NULL;
    return SBPS_OK;
}

size_t sparse_put(const design *g, const double *row, size_t to, entries *e)
{
    rows *r = g->r;
    size_t n = design_entries(g, e->scratch, row, e->column, e->value);
    if (n == 0) return 0; /* a table without entries may have no column array */
    memcpy(r->storage.column + r->storage.start[to], e->column, n * sizeof *e->column);
    if (r->storage.value)
        memcpy(r->storage.value + r->storage.start[to], e->value, n * sizeof *e->value);
    return n;
}
