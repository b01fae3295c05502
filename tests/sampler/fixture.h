/* A chain made by the test: table, mode, metric, potential and sampler, with all sinks. */
#ifndef TESTS_SAMPLER_FIXTURE_H
#define TESTS_SAMPLER_FIXTURE_H

#include "estimate/bias.h"
#include "estimate/path_moments.h"
#include "minibatch/fixture.h"
#include "posterior/minibatch/row_bounds.h"
#include "posterior/mode/mode.h"
#include "sampler/core/sampler.h"
#include "store/draw_store.h"

/* As a run chooses them, and as the paper has them. */
static const sampler_settings ours = {.band.width = 4.0,
                                      .refresh_rate = 0.5,
                                      .band.horizon = 1.0,
                                      .band.floor = 0.1,
                                      .band.chord = NAN,
                                      .band.pool = 3.0,
                                      .band.learning_rate = 0.01,
                                      .band.lack_of_fit = true,
                                      .step_size = NAN,
                                      .metric_beta = 0.99,
                                      .metric_eps = 1e-4};
static const sampler_settings papers = {.band.width = 3.0,
                                        .refresh_rate = 0.05,
                                        .band.horizon = INFINITY,
                                        .band.chord = 0.01,
                                        .band.learning_rate = 0.01,
                                        .band.keep_variance = true,
                                        .step_size = NAN,
                                        .metric_beta = 0.99,
                                        .metric_eps = 1e-4};

typedef struct {
    const sampler_kind *kind;
    const metric_kind *metric;
    const batch_kind *batches;
    const model_kind *model;
    size_t take; /* rows a batch */
} recipe;

typedef struct {
    table t;
    mode *m;
    metric *a;
    control *cv;        /* of samplers that weigh pairs of points; else NULL, as is */
    row_bounds *bounds; /* this */
    recipe made;
} problem;

typedef struct {
    arena memory;
    minibatch u;
    sampler s;
    event_counts *counts;
    moments m;
    bias b;
    draws d;
    path_sinks sinks;
} test_chain;

static inline void map_back(const void *self, const double *x, double *out)
{
    const metric *a = self;
    a->kind->transpose(a, x, out);
}

static inline void problem_bound_pairs(problem *p)
{
    const posterior *u = p->t.u;
    if (!p->a || !p->made.kind->pairs || !minibatch_facts(u).third_bounded) return;
    control_create(u, p->m->w, CONTROL_HESSIAN, NULL, &p->cv, NULL);
    row_bounds_create(u, p->cv, (row_map){p->a, map_back}, p->a->kind->white, NULL, &p->bounds,
                      NULL);
}

static inline problem problem_make(recipe made)
{
    problem p = {.made = made};
    table_spec spec = {
        .n = 300, .columns = 3, .weights = "normal(0,2)", .sigma = "exponential(1)"};
    p.t = table_make(made.model, spec);
    if (!p.t.u || mode_find(p.t.u, NULL, &p.m, NULL) != SBPS_OK) return p;
    metric_create(made.metric, p.t.u->dim, p.m->hessian, &p.a, NULL);
    problem_bound_pairs(&p);
    return p;
}

static inline void problem_close(problem *p)
{
    metric_destroy(p->a);
    row_bounds_destroy(p->bounds);
    control_destroy(p->cv);
    mode_destroy(p->m);
    table_close(&p->t);
}

static inline void test_chain_carve(test_chain *f, const problem *p)
{
    static const reported_value none[DIM_MAX];
    size_t d = p->t.u->dim, full = p->made.batches == &batch_full;
    f->memory.used = 0;
    size_t take = p->made.kind->chooses_row ? 1 : p->made.take;
    minibatch_carve(&f->u, p->made.batches, p->t.u, full ? p->t.data->local_rows : take,
                    &f->memory);
    if (p->made.batches == &batch_strata) f->u.parts = fixture_strata(p->t.data->local_rows);
    if (p->cv) minibatch_equip(&f->u, p->cv, 0.0);
    f->u.bounds = p->bounds;
    sampler_carve(&f->s, p->made.kind, p->a, p->m->hessian, p->m->w, &f->u.is, &f->memory);
    moments_carve(&f->m, d, none, p->m->w, &f->memory);
    f->counts = arena_take(&f->memory, sizeof *f->counts);
    bias_carve(&f->b, d, NULL, f->counts, &f->memory);
    draws_carve(&f->d, d, 100, &f->memory);
    f->sinks.count = 0;
    sinks_add(&f->sinks, f->counts, event_counts_take);
    sinks_add(&f->sinks, &f->m, moments_take);
    sinks_add(&f->sinks, &f->b, bias_take);
    sinks_add(&f->sinks, &f->d, draws_take);
}

/* Mean of u'Hu over the velocities: natural units of time. */
static inline double natural_scale(const problem *p)
{
    size_t d = p->t.u->dim;
    double e[DIM_MAX] = {0}, u[DIM_MAX], sum = 0.0;
    for (size_t j = 0; j < d; j++) {
        e[j] = 1.0;
        p->a->kind->forward(p->a, e, u);
        for (size_t i = 0; i < d; i++) sum += u[i] * dot(d, p->m->hessian + i * d, u);
        e[j] = 0.0;
    }
    return sqrt(sum / (double)d);
}

/* A block of its own for the chain, placed at the mode. */
static inline void test_chain_make(test_chain *f, const problem *p,
                                   const sampler_settings *settings, uint64_t seed)
{
    double zero[DIM_MAX] = {0}, scale = natural_scale(p);
    *f = (test_chain){0};
    test_chain_carve(f, p);
    f->memory.size = f->memory.used;
    f->memory.base = aligned_zeroed(f->memory.size);
    test_chain_carve(f, p);
    *f->s.settings = *settings;
    f->s.settings->refresh_rate *= scale;
    if (!isnan(settings->band.chord)) f->s.settings->band.chord /= scale;
    minibatch_start(&f->u, rng_stream(seed, 0, RNG_BATCH));
    f->s.kind->start(&f->s, zero, rng_stream(seed, 0, RNG_PATH));
    moments_start(&f->m, 0.25 / scale);
    bias_start(&f->b);
    draws_start(&f->d, 0.25 / scale);
}

static inline void test_chain_step(test_chain *f, segment *s)
{
    f->s.kind->step(&f->s, s);
    sinks_take(&f->sinks, s);
}

/* A sampler of the full data takes no batches, one of single rows no others. */
static inline bool takes(const sampler_kind *kind, const batch_kind *batches)
{
    if (kind->chooses_row) return batches == &batch_window;
    return !kind->full || batches == &batch_full;
}

/* The sampler can do this model and these priors. */
static inline bool can(const problem *p)
{
    const potential_facts facts = minibatch_facts(p->t.u);
    return !p->made.kind->check || p->made.kind->check(&facts, &ours, NULL) == SBPS_OK;
}

/* Models take turns, three per sampler, metric and kind of batch: a sampler does not depend
 * on them, and all are covered. */
static inline bool is_selected(size_t slot, size_t m)
{
    size_t models = 0;
    while (regression_model(models)) models++;
    return (m + slot) % models < (size_t)check_size(3, 3, (double)models);
}

/* Runs `property` for every compatible sampler, metric and kind of batch, and the models in
 * turn. */
static inline void for_each_recipe(void (*property)(const problem *p))
{
    for (size_t k = 0; sampler_kinds[k]; k++)
        for (size_t a = 0; metric_kinds[a]; a++)
            for (size_t b = 0; batch_kinds[b]; b++)
                for (size_t m = 0; regression_model(m); m++) {
                    if (!is_selected(k + 2 * a + 3 * b, m)) continue;
                    if (!takes(sampler_kinds[k], batch_kinds[b])) continue;
                    recipe made = {sampler_kinds[k], metric_kinds[a], batch_kinds[b],
                                   regression_model(m), 40};
                    problem p = problem_make(made);
                    CHECK(p.a);
                    if (p.a && can(&p)) property(&p);
                    problem_close(&p);
                }
}

#endif
