/* Small tables, posteriors and potentials made from numbers in a test. */
#ifndef TESTS_MINIBATCH_FIXTURE_H
#define TESTS_MINIBATCH_FIXTURE_H

#include "check.h"
#include "ingest/ingest.h"
#include "linalg/dense_matrix.h"
#include "model/regressions.h"
#include "posterior/minibatch/minibatch.h"

#define DIM_MAX 32

typedef struct {
    size_t n, columns;
    const char *weights, *sigma; /* priors */
    bool weighted;               /* row weights and offsets */
    bool centred;                /* the intercept's prior is of the predictor at the means */
    const char *storage;         /* NULL: auto; of sparse rows every third cell is 0 */
    uint64_t shuffle;
} table_spec;

typedef struct {
    rows *data;
    posterior *u;
    double p[DIM_MAX], q[DIM_MAX]; /* a point and a direction that touch every coordinate */
} table;

/* The simulated targets: column j has mean j/4, weights alternate, sigma is e^0.2, nu e^1.2. */
static inline void fill_rows(const model_kind *model, const table_spec *spec, double *x,
                             double *y, double *weight, double *offset)
{
    const double aux[] = {0.2, 1.2};
    bool sparse = spec->storage && !strcmp(spec->storage, "sparse");
    rng r = rng_stream(11, spec->n, RNG_TEST);
    for (size_t i = 0; i < spec->n; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < spec->columns; j++) {
            double *cell = &x[i * spec->columns + j];
            *cell = rng_normal(&r) + (double)j / 4.0;
            if (sparse && (i + j) % 3 == 0) *cell = 0.0;
            eta += (j % 2 ? -0.7 : 0.5) * *cell;
        }
        bool both = i > 1 || (model->support != SUPPORT_BINARY &&
                              model->support != SUPPORT_PROPORTIONS); /* classes exist */
        bool drawn = both && model->predictor->simulate;
        y[i] = drawn ? model->predictor->simulate(&r, eta, aux) : (double)(i % 2);
        weight[i] = 0.2 + 2.0 * rng_uniform(&r);
        offset[i] = 0.5 * rng_normal(&r);
    }
}

static inline void table_close(table *t)
{
    posterior_destroy(t->u);
    rows_destroy(t->data);
}

static inline table table_make(const model_kind *model, table_spec spec)
{
    table t = {0};
    size_t n = spec.n;
    double *x = calloc(n, (spec.columns + 3) * sizeof *x), *y = x + n * spec.columns;
    rows_spec as = {
        .target = "y", .intercept = true, .storage = spec.storage, .seed = spec.shuffle};
    prior priors[DIM_MAX];
    fill_rows(model, &spec, x, y, y + n, y + 2 * n);
    rows_copy(n, spec.columns, x, NULL, y, spec.weighted ? y + n : NULL,
              spec.weighted ? y + 2 * n : NULL, &as, &t.data, NULL);
    free(x);
    if (!t.data) return t;
    for (size_t j = 0; j < t.data->d + model->auxiliary_count; j++)
        prior_parse(j < t.data->d ? spec.weights : spec.sigma, &priors[j], NULL);
    posterior_create(t.data, model, priors, &t.u, NULL);
    if (t.u && spec.centred) posterior_centre(t.u);
    rng r = rng_stream(12, 0, RNG_TEST);
    for (size_t j = 0; j < DIM_MAX; j++) {
        t.p[j] = 0.3 * rng_normal(&r);
        t.q[j] = 0.5 * rng_normal(&r);
    }
    return t;
}

typedef struct {
    minibatch u;
    arena memory;
} carved;

/* Strata of n rows by a made-up influence: the last tenth is influential, three rows of it
 * very. */
static inline const strata *fixture_strata(size_t n)
{
    static size_t order[4096];
    static strata s;
    CHECK(n <= 4096);
    size_t loud = n / 10, very = 3;
    s = (strata){.count = 3,
                 .order = order,
                 .first = {0, n - loud - very, n - very},
                 .size = {n - loud - very, loud, very},
                 .spread = {1.0, 5.0, 400.0}};
    for (size_t i = 0; i < n; i++) order[i] = i;
    return &s;
}

static inline carved carve(const batch_kind *kind, const posterior *target, size_t n,
                           uint64_t seed)
{
    carved c = {0};
    minibatch_carve(&c.u, kind, target, n, &c.memory);
    c.memory = (arena){.base = aligned_zeroed(c.memory.used), .size = c.memory.used};
    minibatch_carve(&c.u, kind, target, n, &c.memory);
    if (kind == &batch_strata) c.u.parts = fixture_strata(target->data->local_rows);
    minibatch_start(&c.u, rng_stream(seed, 0, RNG_BATCH));
    return c;
}

/* Running mean and central moments of a few numbers. */
typedef struct {
    double n, sum, squares, fourths, about;
} tally;

static inline void tally_add(tally *t, double x)
{
    double d = x - t->about;
    t->n++;
    t->sum += d;
    t->squares += d * d;
    t->fourths += d * d * d * d;
}

static inline double tally_mean(const tally *t)
{
    return t->about + t->sum / t->n;
}

static inline double tally_variance(const tally *t)
{
    return (t->squares - t->sum * t->sum / t->n) / (t->n - 1.0);
}

static inline double tally_error(const tally *t)
{
    return sqrt(tally_variance(t) / t->n);
}

/* Standard error of the mean of (x - about)^2. */
static inline double tally_square_error(const tally *t)
{
    double m = t->squares / t->n;
    return sqrt((t->fourths / t->n - m * m) / t->n);
}

#endif
