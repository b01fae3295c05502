/* The normal density in closed form, mean 0: a model without rows.
 *
 *   log p(w)  = -d log(2 pi)/2 - log|S|/2 - w'Pw/2,    P = S^-1                            (1)
 *   d/dt      = -u'Pw        grad = -Pw        Hess v = -Pv                                (2)
 *
 * S is read from a file, or constructed with variances log-spaced from 1 to the condition
 * number c,
 *
 *   S = Q diag(c^(j/(d-1))) Q',   j = 0..d-1                                               (3)
 *
 * where Q is a uniformly random orthogonal matrix (Gram-Schmidt on normal numbers), the same in
 * every run for each d. */
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "model/likelihood/model_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIM_MAX       ((size_t)20000) /* P has its square as many numbers */
#define ROTATION_SEED 2017
#define SYMMETRY      1e-8 /* relative tolerance: files may be printed with few digits */

typedef struct {
    size_t d;
    double constant;   /* log p(0) */
    double *precision; /* d*d */
} gaussian;

/* out = P v */
static void apply(const gaussian *g, const double *v, double *out)
{
    const kernels *k = kernels_best();
    for (size_t j = 0; j < g->d; j++) out[j] = k->dot(g->d, g->precision + j * g->d, v);
}

/* ---- a constructed covariance ---- */

/* Makes row i of q orthogonal to those before it, twice because of rounding, and of length
 * 1. */
static void orthogonalise(size_t d, double *q, size_t i)
{
    const kernels *k = kernels_best();
    double *row = q + i * d;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < i; j++) k->axpy(d, -k->dot(d, row, q + j * d), q + j * d, row);
    double length = sqrt(k->dot(d, row, row));
    for (size_t j = 0; j < d; j++) row[j] /= length;
}

/* Sets P to the inverse of (3). Row j of q is the axis with variance c^(j/(d-1)). */
static sbps_status construct(gaussian *g, double condition, sbps_error *err)
{
    size_t d = g->d;
    const kernels *k = kernels_best();
    rng random = rng_stream(ROTATION_SEED, d, RNG_SIMULATE);
    double *q = new_doubles(d * d), step = d > 1 ? log(condition) / (double)(d - 1) : 0.0;
    if (!q) return fail_memory(err);
    for (size_t i = 0; i < d * d; i++) q[i] = rng_normal(&random);
    for (size_t i = 0; i < d; i++) {
        const double *axis = q + i * d;
        orthogonalise(d, q, i);
        g->constant -= 0.5 * (step * (double)i + log(2.0 * M_PI));
        for (size_t j = 0; j < d; j++)
            k->axpy(d, exp(-step * (double)i) * axis[j], axis, g->precision + j * d);
    }
    free(q);
    return SBPS_OK;
}

/* ---- a covariance from a file ---- */

/* Fails unless the d * d matrix s of the file is symmetric to SYMMETRY. */
static sbps_status check_symmetric(const char *path, size_t d, const double *s, sbps_error *err)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            double a = s[i * d + j], b = s[j * d + i];
            double size = sqrt(fabs(s[i * d + i] * s[j * d + j]));
            if (fabs(a - b) <= SYMMETRY * fmax(size, fmax(fabs(a), fabs(b)))) continue;
            return fail(err, SBPS_BAD_DATA,
                        "%s: not symmetric: row %zu, column %zu holds %g, row %zu, column %zu "
                        "holds %g",
                        path, i + 1, j + 1, a, j + 1, i + 1, b);
        }
    return SBPS_OK;
}

/* Sets P to the inverse of S, which is overwritten by its Cholesky factor. */
static sbps_status invert(gaussian *g, const char *path, double *s, sbps_error *err)
{
    size_t d = g->d, pivot = cholesky_pivot(d, s, 0.0);
    if (pivot < d)
        return fail(err, SBPS_BAD_DATA,
                    "%s: not positive definite: given the columns before it, column %zu has no "
                    "variance left",
                    path, pivot + 1);
    for (size_t j = 0; j < d; j++) g->constant -= log(s[j * d + j]) + 0.5 * log(2.0 * M_PI);
    cholesky_inverse(d, s, g->precision);
    return SBPS_OK;
}

/* ---- the model ---- */

static void gaussian_close(void *self)
{
    gaussian *g = self;
    if (!g) return;
    free(g->precision);
    free(g);
}

/* Takes S from the file of --covariance, or constructs it by --dim and --condition. */
static sbps_status gaussian_open(const model_kind *kind, const rows *data,
                                 const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)data;
    double *s = NULL;
    const char *path = shape->covariance && *shape->covariance ? shape->covariance : NULL;
    gaussian *g = *self = calloc(1, sizeof *g);
    if (!g) return fail_memory(err);
    g->d = shape->dim;
    sbps_status status = path ? shape->read_matrix(path, &g->d, &s, err) : SBPS_OK;
    if (status != SBPS_OK) goto done;
    if (g->d > DIM_MAX)
        status = fail(err, SBPS_BAD_ARG,
                      "--dim: a gaussian has at most %zu parameters, not %zu", DIM_MAX, g->d);
    else if (!(g->precision = new_doubles(g->d * g->d)))
        status = fail_memory(err);
    else if (!path)
        status = construct(g, shape->condition, err);
    else if ((status = check_symmetric(path, g->d, s, err)) == SBPS_OK)
        status = invert(g, path, s, err);
done:
    free(s);
    if (status == SBPS_OK) return SBPS_OK;
    gaussian_close(g);
    *self = NULL;
    return status;
}

static size_t gaussian_dim(const void *self)
{
    return ((const gaussian *)self)->d;
}

static size_t gaussian_scratch(const void *self, size_t n)
{
    (void)n;
    return gaussian_dim(self);
}

static void gaussian_loglik(const void *self, row_range r, const double *w, double *scratch,
                            double *out)
{
    const gaussian *g = self;
    apply(g, w, scratch);
    double value = g->constant - 0.5 * kernels_best()->dot(g->d, w, scratch);
    for (size_t i = 0; i < r.n; i++) out[i] = value;
}

static void gaussian_slope(const void *self, row_range r, const double *w, const double *u,
                           double *scratch, double *out)
{
    const gaussian *g = self;
    apply(g, w, scratch);
    double value = -kernels_best()->dot(g->d, u, scratch);
    for (size_t i = 0; i < r.n; i++) out[i] = value;
}

/* The Hessian is minus the precision, the same everywhere. */
static void gaussian_hessian_vector(const void *self, row_range r, const double *w,
                                    const double *v, const double *factor, double *scratch,
                                    double *out)
{
    (void)w;
    const gaussian *g = self;
    apply(g, v, scratch);
    for (size_t i = 0; i < r.n; i++) kernels_best()->axpy(g->d, -factor[i], scratch, out);
}

/* grad = Hess w of (2). */
static void gaussian_gradient(const void *self, row_range r, const double *w,
                              const double *factor, double *scratch, double *out)
{
    gaussian_hessian_vector(self, r, w, w, factor, scratch, out);
}

const model_kind model_gaussian = {
    .name = "gaussian",
    .facts.log_concave = true,
    .summary = "Normal density of a given covariance, mean 0; needs no table.",
    .support = SUPPORT_NONE,
    .facts.mode_optional = true,
    .facts.no_rows = true,
    .facts.quadratic = true,
    .open = gaussian_open,
    .close = gaussian_close,
    .parameters.dim = gaussian_dim,
    .parameters.name = density_name,
    .parameters.prior_sd = density_flat,
    .rows.scratch = gaussian_scratch,
    .rows.loglik = gaussian_loglik,
    .rows.slope = gaussian_slope,
    .rows.gradient = gaussian_gradient,
    .rows.hessian_vector = gaussian_hessian_vector,
};
