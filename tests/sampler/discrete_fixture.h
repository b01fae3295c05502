/* A chain of a discrete sampler on a posterior that is known: y ~ normal(x.w, 1), so that U
 * is a parabola with curvature H. With x = +-1 a row's gradient is w - x y: mini-batches of
 * m random rows add noise of variance V = (N^2/m)(1 - m/N) Var(x y) wherever w is. Include
 * once. */
#ifndef TESTS_SAMPLER_DISCRETE_FIXTURE_H
#define TESTS_SAMPLER_DISCRETE_FIXTURE_H

#include "estimate/path_moments.h"
#include "ingest/ingest.h"
#include "minibatch/fixture.h"
#include "posterior/mode/mode.h"
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#define PRIOR 0.25 /* precision: normal(0,2) */

/* ---- the model ---- */

static inline void unit_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = -0.5 * pow(b->y[i] - b->eta[i], 2.0);
}

static inline void unit_slope(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = (b->y[i] - b->eta[i]) * b->deta[i];
}

static inline void unit_gradient(const batch *b, double *d_eta, double *d_aux)
{
    (void)d_aux;
    for (size_t i = 0; i < b->n; i++) d_eta[i] = b->y[i] - b->eta[i];
}

static inline void unit_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    (void)ea;
    (void)aa;
    for (size_t i = 0; i < b->n; i++) ee[i] = -1.0;
}

static inline sbps_status unit_check(const rows *r, sbps_error *err)
{
    (void)r;
    (void)err;
    return SBPS_OK;
}

static const predictor unit_rows = {.check = unit_check,
                                    .loglik = unit_loglik,
                                    .slope = unit_slope,
                                    .gradient = unit_gradient,
                                    .curvature = unit_curvature};
static const model_kind unit = {.name = "unit", PREDICTOR_MODEL(unit_rows)};

/* ---- a chain ---- */

#define ROWS ((size_t)200)

typedef struct {
    rows *data;
    posterior *u;
    mode *m;
    metric *a;
    control *cv;
    double scatter; /* Var(x y), over n - 1 */
    arena memory;
    minibatch noisy;
    sampler s;
    moments sums;
} chain;

/* columns = 1: x = +-1. Else correlated columns of very different sizes. */
static inline void fill(chain *c, size_t columns)
{
    double x[4 * ROWS], y[ROWS];
    rng r = rng_stream(31, columns, RNG_TEST);
    rows_spec as = {.target = "y", .intercept = false};
    prior priors[4];
    tally of = {0};
    for (size_t i = 0; i < ROWS; i++) {
        double common = rng_normal(&r);
        for (size_t j = 0; j < columns; j++)
            x[i * columns + j] = (common + rng_normal(&r)) * (j ? 0.2 * (double)j : 1.0);
        if (columns == 1) x[i] = i % 2 ? 1.0 : -1.0;
        y[i] = 0.4 * x[i * columns] + 2.0 * rng_normal(&r);
        tally_add(&of, x[i] * y[i]);
    }
    c->scatter = tally_variance(&of);
    for (size_t j = 0; j < columns; j++) prior_parse("normal(0,2)", &priors[j], NULL);
    rows_copy(ROWS, columns, x, NULL, y, NULL, NULL, &as, &c->data, NULL);
    if (c->data) posterior_create(c->data, &unit, priors, &c->u, NULL);
    if (c->u) mode_find(c->u, NULL, &c->m, NULL);
}

static inline void carve_chain(chain *c, const sampler_kind *kind, size_t take)
{
    static const reported_value none[DIM_MAX];
    const batch_kind *batches = take < ROWS ? &batch_random : &batch_full;
    bool dense = !strcmp(c->a->kind->name, "dense");
    c->memory.used = 0;
    minibatch_carve(&c->noisy, batches, c->u, take, &c->memory);
    sampler_carve(&c->s, kind, c->a, dense ? NULL : c->m->hessian, c->m->w, &c->noisy.is,
                  &c->memory);
    moments_carve(&c->sums, c->u->dim, none, c->m->w, &c->memory);
    minibatch_equip(&c->noisy, c->cv, c->noisy.is.noise);
}

static inline const metric_kind *metric_named(const char *name)
{
    for (size_t i = 0; metric_kinds[i]; i++)
        if (!strcmp(metric_kinds[i]->name, name)) return metric_kinds[i];
    return NULL;
}

/* step: h, or NAN. */
static inline bool open_chain(chain *c, const sampler_kind *kind, size_t columns,
                              const char *space, size_t take, double step)
{
    double zero[DIM_MAX] = {0};
    bool cv = c->cv;
    *c = (chain){0};
    fill(c, columns);
    if (!c->m) return false;
    metric_create(metric_named(space), columns, c->m->hessian, &c->a, NULL);
    if (cv) control_create(c->u, c->m->w, CONTROL_GRADIENT, NULL, &c->cv, NULL);
    if (!c->a) return false;
    carve_chain(c, kind, take);
    c->memory = (arena){.base = aligned_zeroed(c->memory.used), .size = c->memory.used};
    if (!c->memory.base) return false;
    carve_chain(c, kind, take);
    *c->s.settings =
        (sampler_settings){.step_size = step, .metric_beta = 0.99, .metric_eps = 1e-4};
    minibatch_start(&c->noisy, rng_stream(7, 0, RNG_BATCH));
    kind->start(&c->s, zero, rng_stream(7, 0, RNG_PATH));
    moments_start(&c->sums, 1.0);
    return true;
}

static inline void close_chain(chain *c)
{
    free(c->memory.base);
    control_destroy(c->cv);
    metric_destroy(c->a);
    mode_destroy(c->m);
    posterior_destroy(c->u);
    rows_destroy(c->data);
}

/* Runs and returns the share of steps that moved. */
static inline double advance(chain *c, size_t steps)
{
    double last = NAN, moved = 0.0;
    for (size_t i = 0; i < steps; i++) {
        segment s;
        c->s.kind->step(&c->s, &s);
        moments_take(&c->sums, &s);
        moved += s.p[0] != last;
        last = s.p[0];
    }
    return moved / (double)steps;
}

static inline void burn_in(chain *c, size_t steps)
{
    advance(c, steps);
    moments_start(&c->sums, 1.0);
}

/* Mean within MAX_Z errors of the mode, variance within a fraction `slack` of its
 * expectation. */
static inline void check_stationary(const char *what, const chain *c, size_t j, double variance,
                                    double slack)
{
    moment_summary m = moments_summarize(&c->sums, 1, j);
    double error = variance * sqrt(2.0 / m.ess_square), got = m.sd * m.sd;
    printf("%-28s w%zu: variance %.5g, expected %.5g, error %.2g; ESS %.0f\n", what, j, got,
           variance, error, m.ess_square);
    CHECK(m.ess_square > 1000.0);
    CHECK_Z(m.mean, c->m->w[j], m.mcse, MAX_Z);
    CHECK(fabs(got - variance) <= MAX_Z * error + slack * variance);
}

static inline double batch_noise(const chain *c, size_t take)
{
    double n = (double)ROWS, m = (double)take;
    return n * n / m * (1.0 - m / n) * c->scatter;
}

/* Stationary variance of w' = (1 - eta l) w + e, Var e = 2 eta + eta^2 V. */
static inline double langevin(double l, double eta, double noise)
{
    return (1.0 + 0.5 * eta * noise) / (l * (1.0 - 0.5 * eta * l));
}

#endif
