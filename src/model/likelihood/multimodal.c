/* The multimodal density of the paper's Supp. E: rows of 2D numbers mu, no target. With s =
 * 0.25,
 *
 *   log p_i(w) = sum_k log[e^a + e^b],   a = -(w_k - 1 - mu_k)^2/(2 s^2),
 *                                        b = -(w_k + 1 - mu_D+k)^2/(2 s^2)                (1)
 *   d/dw_k     = p a' + (1-p) b',        p = 1/(1 + e^(b-a))                              (2)
 *   d2/dw_k^2  = -1/s^2 + p (1-p) (a' - b')^2                                             (3)
 *
 * Rows are summed, so that the valleys between the peaks near w_k = +-1 are about 7 log units
 * deep per row. It is not the likelihood of a model of data: constants are as printed in the
 * paper. */
#include "core/status.h"
#include "model/likelihood/model_kinds.h"

#include <math.h>
#include <stdlib.h>

#define S2       (0.25 * 0.25) /* s^2 */
#define SIGMA_MU 0.01

typedef struct {
    const rows *data;
    size_t dim;
} multimodal;

/* The table has the columns mu_1 .. mu_2D. */
static sbps_status multimodal_open(const model_kind *kind, const rows *data,
                                   const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)shape;
    *self = NULL;
    if (data->d % 2 || data->d == 0)
        return fail(
            err, SBPS_BAD_DATA,
            "multimodal needs two columns for each parameter, so an even number; the table "
            "has %zu",
            data->d);
    multimodal *m = *self = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    *m = (multimodal){data, data->d / 2};
    return SBPS_OK;
}

static void multimodal_close(void *self)
{
    free(self);
}

static size_t multimodal_dim(const void *self)
{
    return ((const multimodal *)self)->dim;
}

static size_t multimodal_scratch(const void *self, size_t n)
{
    (void)self;
    (void)n;
    return 0;
}

/* (1), (2) and (3) of one coordinate of one row. */
typedef struct {
    double value, slope, curvature;
} term;

/* The term of coordinate k at w for a row with the numbers mu. */
static term term_at(const multimodal *m, const double *mu, size_t k, double w)
{
    double right = w - 1.0 - mu[k], left = w + 1.0 - mu[m->dim + k];
    double a = -0.5 * right * right / S2, b = -0.5 * left * left / S2, apart = fabs(a - b);
    double e = exp(-apart), larger_weight = 1.0 / (1.0 + e);
    double p = a > b ? larger_weight : e * larger_weight; /* q = 1 - p without cancellation */
    double q = a > b ? e * larger_weight : larger_weight;
    double da = -right / S2, db = -left / S2;
    return (term){.value = (a > b ? a : b) + log1p(e),
                  .slope = p * da + q * db,
                  .curvature = -1.0 / S2 + p * q * (da - db) * (da - db)};
}

/* The numbers mu of the i-th row of a range. */
static const double *row_at(const multimodal *m, row_range r, size_t i)
{
    return m->data->storage.x + row_index(r, i) * m->data->stride;
}

/* (1) */
static void multimodal_loglik(const void *self, row_range r, const double *w, double *scratch,
                              double *out)
{
    (void)scratch;
    const multimodal *m = self;
    for (size_t i = 0; i < r.n; i++) {
        out[i] = 0.0;
        for (size_t k = 0; k < m->dim; k++)
            out[i] += term_at(m, row_at(m, r, i), k, w[k]).value;
    }
}

/* (2) times u. */
static void multimodal_slope(const void *self, row_range r, const double *w, const double *u,
                             double *scratch, double *out)
{
    (void)scratch;
    const multimodal *m = self;
    for (size_t i = 0; i < r.n; i++) {
        out[i] = 0.0;
        for (size_t k = 0; k < m->dim; k++)
            out[i] += u[k] * term_at(m, row_at(m, r, i), k, w[k]).slope;
    }
}

/* (2) */
static void multimodal_gradient(const void *self, row_range r, const double *w,
                                const double *factor, double *scratch, double *out)
{
    (void)scratch;
    const multimodal *m = self;
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < m->dim; k++)
            out[k] += factor[i] * term_at(m, row_at(m, r, i), k, w[k]).slope;
}

/* (3) times v: the Hessian is diagonal. */
static void multimodal_hessian_vector(const void *self, row_range r, const double *w,
                                      const double *v, const double *factor, double *scratch,
                                      double *out)
{
    (void)scratch;
    const multimodal *m = self;
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < m->dim; k++)
            out[k] += factor[i] * v[k] * term_at(m, row_at(m, r, i), k, w[k]).curvature;
}

/* The peak with every w_k = 1; 0 is a saddle point. */
static void multimodal_start(const void *self, double *w)
{
    for (size_t k = 0; k < multimodal_dim(self); k++) w[k] = 1.0;
}

/* The binary digits of `chain` choose the peak, chain 0 the one with all w_k = 1; the sd is
 * twice that of the peak. */
static void multimodal_scatter(const void *self, size_t chain, rng *random, double *w)
{
    const multimodal *m = self;
    double sd = 2.0 * sqrt(S2 / (double)m->data->local_rows);
    for (size_t k = 0; k < m->dim; k++, chain /= 2)
        w[k] = (chain % 2 ? -1.0 : 1.0) + sd * rng_normal(random);
}

/* mu_1 .. mu_2D: two columns for each parameter. */
static size_t multimodal_columns(size_t dim)
{
    return 2 * dim;
}

/* mu_j ~ N(0, SIGMA_MU^2); there is no target. */
static void multimodal_simulate(rng *random, size_t columns, double *x, double *y)
{
    *y = 0.0;
    for (size_t j = 0; j < columns; j++) x[j] = SIGMA_MU * rng_normal(random);
}

const model_kind model_multimodal = {
    .name = "multimodal",
    .summary = "Density with a peak near every corner of [-1,1]^D (Supp. E).",
    .support = SUPPORT_NONE,
    .facts.mode_optional = true,
    .open = multimodal_open,
    .close = multimodal_close,
    .parameters.dim = multimodal_dim,
    .parameters.name = density_name,
    .parameters.prior_sd = density_flat,
    .rows.scratch = multimodal_scratch,
    .rows.loglik = multimodal_loglik,
    .rows.slope = multimodal_slope,
    .rows.gradient = multimodal_gradient,
    .rows.hessian_vector = multimodal_hessian_vector,
    .parameters.start = multimodal_start,
    .parameters.scatter = multimodal_scatter,
    .simulated.columns = multimodal_columns,
    .simulated.row = multimodal_simulate,
};
