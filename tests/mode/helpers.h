/* Tables and posteriors made from numbers in a test. */
#ifndef TESTS_MODE_HELPERS_H
#define TESTS_MODE_HELPERS_H

#include "check.h"
#include "core/rng.h"
#include "ingest/ingest.h"
#include "linalg/cholesky.h"
#include "model/likelihood/model.h"
#include "model/prior/prior.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/mode.h"

#define DIM_MAX 64

typedef struct {
    rows *data;
    posterior *u;
    mode *m;
    sbps_status status;
    sbps_error err;
} fit;

static void fit_close(fit *f)
{
    mode_destroy(f->m);
    posterior_destroy(f->u);
    rows_destroy(f->data);
}

/* Finds the mode with one prior on every weight and one on auxiliaries. Takes over `data`. */
static fit fit_model(rows *data, const model_kind *model, const char *weights,
                     const char *sigma, const double *start)
{
    fit f = {.data = data, .status = SBPS_BAD_ARG};
    prior priors[DIM_MAX];
    if (!data) return f;
    /* Without auxiliaries all coordinates are weights, of which softmax has several per column. */
    size_t weights_count = model->auxiliary_count ? data->d : DIM_MAX;
    size_t count = weights_count + model->auxiliary_count;
    if (count > DIM_MAX) return f;
    for (size_t j = 0; j < count; j++)
        if (prior_parse(j < weights_count ? weights : sigma, &priors[j], &f.err) != SBPS_OK)
            return f;
    f.status = posterior_create(data, model, priors, &f.u, &f.err);
    if (f.status == SBPS_OK) f.status = mode_find(f.u, start, &f.m, &f.err);
    return f;
}

static inline fit fit_rows(rows *data, const char *model, const char *weights,
                           const char *sigma, const double *start)
{
    return fit_model(data, model_find(model), weights, sigma, start);
}

static inline rows *make_rows(size_t n, size_t columns, const double *x, const double *y,
                              const double *weight, bool intercept)
{
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = intercept, .seed = 1};
    rows_copy(n, columns, x, NULL, y, weight, NULL, &spec, &data, NULL);
    return data;
}

/* Columns N(0,1), targets from the model with weights 1, -1, 1, ... / sqrt(columns), sigma
 * 1. */
static inline void simulate(const char *model, size_t n, size_t columns, uint64_t seed,
                            double *x, double *y)
{
    const double aux[] = {0.0};
    rng r = rng_stream(seed, 0, RNG_TEST);
    for (size_t i = 0; i < n; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < columns; j++) {
            x[i * columns + j] = rng_normal(&r);
            eta += (j % 2 ? -1.0 : 1.0) / sqrt((double)columns) * x[i * columns + j];
        }
        y[i] = model_find(model)->predictor->simulate(&r, eta, aux);
    }
}

/* g and sqrt(g' H^-1 g) afresh at the mode found. */
static inline double distance_to_mode(const fit *f)
{
    size_t d = f->u->dim;
    double g[DIM_MAX], z[DIM_MAX], *a = malloc(d * d * sizeof *a), total = 0.0;
    posterior_gradient(f->u, f->m->w, NULL, g, NULL);
    memcpy(a, f->m->hessian, d * d * sizeof *a);
    bool definite = cholesky(d, a);
    for (size_t i = 0; i < d && definite; i++) {
        z[i] = g[i];
        for (size_t k = 0; k < i; k++) z[i] -= a[i * d + k] * z[k];
        z[i] /= a[i * d + i];
        total += z[i] * z[i];
    }
    free(a);
    return definite ? sqrt(total) : INFINITY;
}

#endif
