/* The hyperboloid of the paper's Supp. D: rows hold a target only, and sigma = 1 is known. With
 * the residual r_i = y_i - w0 w1,
 *
 *   log p_i    = -log(2 pi)/2 - r_i^2/2                                                   (1)
 *   d/dw0      = r_i w1          d/dw1      = r_i w0                                      (2)
 *   d2/dw0^2   = -w1^2           d2/dw1^2   = -w0^2       d2/dw0dw1 = r_i - w0 w1         (3)
 *
 * The likelihood is the same at (w0, w1) and (l w0, w1/l); only the prior, U = c |w|^2/2 with c
 * = 1e-4, makes the posterior proper. */
#include "core/status.h"
#include "model/likelihood/model_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PRIOR_SD 100.0 /* 1/sqrt(c) */

typedef struct {
    const double *y; /* of the table */
    size_t n;
    double mean;
} hyperboloid;

/* The targets and their mean, by which start and scatter are found. */
static sbps_status hyperboloid_open(const model_kind *kind, const rows *data,
                                    const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)shape;
    hyperboloid *h = *self = calloc(1, sizeof *h);
    if (!h) return fail_memory(err);
    h->y = data->y;
    h->n = data->local_rows;
    for (size_t i = 0; i < data->local_rows; i++)
        h->mean += data->y[i] / (double)data->local_rows;
    return SBPS_OK;
}

static void hyperboloid_close(void *self)
{
    free(self);
}

static size_t hyperboloid_dim(const void *self)
{
    (void)self;
    return 2;
}

/* Numbered from 0, as in the paper. */
static void hyperboloid_name(const void *self, size_t j, size_t size, char *text)
{
    (void)self;
    snprintf(text, size, "w%zu", j);
}

/* Part of the model: without it the posterior is improper. */
static double hyperboloid_prior_sd(const void *self, size_t j)
{
    (void)self;
    (void)j;
    return PRIOR_SD;
}

static size_t hyperboloid_scratch(const void *self, size_t n)
{
    (void)self;
    (void)n;
    return 0;
}

/* r_i of the i-th row of a range. */
static double residual(const void *self, row_range r, size_t i, const double *w)
{
    const hyperboloid *h = self;
    return h->y[row_index(r, i)] - w[0] * w[1];
}

/* (1) */
static void hyperboloid_loglik(const void *self, row_range r, const double *w, double *scratch,
                               double *out)
{
    (void)scratch;
    for (size_t i = 0; i < r.n; i++) {
        double e = residual(self, r, i, w);
        out[i] = -0.5 * log(2.0 * M_PI) - 0.5 * e * e;
    }
}

/* (2) times u: the rate of w0 w1 is w1 u0 + w0 u1. */
static void hyperboloid_slope(const void *self, row_range r, const double *w, const double *u,
                              double *scratch, double *out)
{
    (void)scratch;
    double rate = w[1] * u[0] + w[0] * u[1];
    for (size_t i = 0; i < r.n; i++) out[i] = rate * residual(self, r, i, w);
}

/* (2); it needs the sum of factor_i r_i only. */
static void hyperboloid_gradient(const void *self, row_range r, const double *w,
                                 const double *factor, double *scratch, double *out)
{
    (void)scratch;
    double sum = 0.0;
    for (size_t i = 0; i < r.n; i++) sum += factor[i] * residual(self, r, i, w);
    out[0] += sum * w[1];
    out[1] += sum * w[0];
}

/* (3) times v; its entries need the sums of factor_i and factor_i r_i only. */
static void hyperboloid_hessian_vector(const void *self, row_range r, const double *w,
                                       const double *v, const double *factor, double *scratch,
                                       double *out)
{
    (void)scratch;
    double sum = 0.0, mass = 0.0;
    for (size_t i = 0; i < r.n; i++) {
        sum += factor[i] * residual(self, r, i, w);
        mass += factor[i];
    }
    double cross = sum - mass * w[0] * w[1];
    out[0] += cross * v[1] - mass * w[1] * w[1] * v[0];
    out[1] += cross * v[0] - mass * w[0] * w[0] * v[1];
}

/* |w0| = |w1| and w0 w1 = mean of y: the mode, apart from the prior. (0, 0) is a saddle
 * point. */
static void hyperboloid_start(const void *self, double *w)
{
    double mean = ((const hyperboloid *)self)->mean;
    w[0] = sqrt(fabs(mean));
    w[1] = mean < 0.0 ? -w[0] : w[0];
}

/* On the ridge: w0 w1 within about 2 sds of the mean of y, |w0| log-uniform over three decades.
 * The normal density at the mode has most of its mass off the ridge. */
static void hyperboloid_scatter(const void *self, size_t chain, rng *random, double *w)
{
    (void)chain;
    const hyperboloid *h = self;
    double product = h->mean + 2.0 * rng_normal(random) / sqrt((double)h->n);
    w[0] = exp(log(1e3) * (rng_uniform(random) - 0.5));
    if (rng_uniform(random) < 0.5) w[0] = -w[0];
    w[1] = product / w[0];
}

/* Simulated rows hold a target only. */
static size_t hyperboloid_columns(size_t dim)
{
    (void)dim;
    return 0;
}

/* The true weights are 0. */
static void hyperboloid_simulate(rng *random, size_t columns, double *x, double *y)
{
    (void)columns;
    (void)x;
    *y = rng_normal(random);
}

const model_kind model_hyperboloid = {
    .name = "hyperboloid",
    .summary = "The target is normal around the product of two weights, sd 1 (Supp. D).",
    .support = SUPPORT_REAL,
    .facts.mode_optional = true,
    .facts.no_columns = true,
    .open = hyperboloid_open,
    .close = hyperboloid_close,
    .parameters.dim = hyperboloid_dim,
    .parameters.name = hyperboloid_name,
    .parameters.prior_sd = hyperboloid_prior_sd,
    .rows.scratch = hyperboloid_scratch,
    .rows.loglik = hyperboloid_loglik,
    .rows.slope = hyperboloid_slope,
    .rows.gradient = hyperboloid_gradient,
    .rows.hessian_vector = hyperboloid_hessian_vector,
    .parameters.start = hyperboloid_start,
    .parameters.scatter = hyperboloid_scatter,
    .simulated.columns = hyperboloid_columns,
    .simulated.row = hyperboloid_simulate,
};
