/* Sums over all rows of a model whose rows are evaluated at a transformed point T(w). The
 * transform and its pullback are applied once per sum, not once per row. Hessian products
 * are central differences of the gradient, as in form_pointwise.c. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/full/forms.h"
#include "posterior/full/log_prior.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Central differences; lengths in posterior sds along the direction. */
#define STEP_MAX     0.1
#define STEP         1e-3 /* length after one that was too long */
#define SHRINK_MAX   1e-4 /* smallest factor from one attempt to the next */
#define ATTEMPTS_MAX 4

typedef struct {
    const posterior *u;
    const double *at; /* T(w), where rows are evaluated */
    bool value;       /* requested, behind the gradient */
} row_query;

/* Minus the row negated_weights: the sign of U. */
static void negated_weights(const posterior *u, row_range r, double *out)
{
    const double *weight = u->data->weight;
    for (size_t i = 0; i < r.n; i++) out[i] = weight ? -weight[r.first + i] : -1.0;
}

static void add_value(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    double *values = scratch + ROW_BLOCK;
    negated_weights(q->u, r, scratch);
    q->u->model->rows.loglik(q->u->self, r, q->at, scratch + 2 * ROW_BLOCK, values);
    for (size_t i = 0; i < r.n; i++) *total += scratch[i] * values[i];
}

static void add_gradient(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    negated_weights(q->u, r, scratch);
    q->u->model->rows.gradient(q->u->self, r, q->at, scratch, scratch + 2 * ROW_BLOCK, total);
    if (q->value) add_value(self, r, scratch, total + q->u->dim);
}

/* Adds the sum over all rows of `add` to total, which has `width` numbers. */
static sbps_status sum_rows(const row_query *q, size_t width,
                            void (*add)(const void *, row_range, double *, double *),
                            double *total, sbps_error *err)
{
    const posterior *u = q->u;
    const row_sum what = {.self = q,
                          .width = width,
                          .scratch = 2 * ROW_BLOCK + u->model->rows.scratch(u->self, ROW_BLOCK),
                          .add = add};
    return row_sums(u->data, &what, total, err);
}

static sbps_status value_of(const posterior *u, const double *w, double *value, sbps_error *err)
{
    double *at = unset_doubles(u->dim + u->model->transformation.scratch(u->self));
    if (!at) return fail_memory(err);
    *value = -u->model->transformation.apply(u->self, w, at) - log_prior_value(u, w);
    const row_query q = {.u = u, .at = at};
    sbps_status status = sum_rows(&q, 1, add_value, value, err);
    free(at);
    return status;
}

/* The gradient at T(w), summed over rows, is pulled back to w once. */
static sbps_status gradient_of(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err)
{
    size_t d = u->dim, size = d + u->model->transformation.scratch(u->self);
    double *at = unset_doubles(size + d + 1), *total = at + size;
    if (!at) return fail_memory(err);
    memset(total, 0, (d + 1) * sizeof *total);
    double transform_value = u->model->transformation.apply(u->self, w, at);
    const row_query q = {.u = u, .at = at, .value = value};
    sbps_status status = sum_rows(&q, value ? d + 1 : d, add_gradient, total, err);
    u->model->transformation.pullback(u->self, w, at, total);
    log_prior_gradient(u, w, -1.0, total);
    memcpy(gradient, total, d * sizeof *gradient);
    if (value) *value = total[d] - transform_value - log_prior_value(u, w);
    free(at);
    return status;
}

/* H v as the central difference between w - h v and w + h v. at: scratch of 2 dim numbers. */
static sbps_status difference(const posterior *u, const double *w, const double *v, double h,
                              double *at, double *hv, sbps_error *err)
{
    size_t d = u->dim;
    double *low = at + d;
    for (size_t j = 0; j < d; j++) at[j] = w[j] - h * v[j];
    sbps_status status = gradient_of(u, at, NULL, low, err);
    for (size_t j = 0; j < d; j++) at[j] = w[j] + h * v[j];
    if (status == SBPS_OK) status = gradient_of(u, at, NULL, hv, err);
    for (size_t j = 0; j < d; j++) hv[j] = (hv[j] - low[j]) / (2.0 * h);
    return status;
}

/* The step h is relative to |w|. Along the coefficient of a column of large numbers that can
 * be many posterior sds, where a difference does not give the curvature. Then h becomes STEP
 * sds, by the curvature found with the longer step. */
static sbps_status product_of(const posterior *u, const double *w, const double *v, double *hv,
                              sbps_error *err)
{
    size_t d = u->dim;
    double h = cbrt(DBL_EPSILON) * (1.0 + norm(d, w)) / norm(d, v), *at = new_doubles(2 * d);
    if (!at) return fail_memory(err);
    sbps_status status = SBPS_OK;
    for (int attempt = 0; attempt < ATTEMPTS_MAX && status == SBPS_OK; attempt++) {
        status = difference(u, w, v, h, at, hv, err);
        double sds = h * sqrt(fabs(dot(d, v, hv)));
        if (sds <= STEP_MAX) break;
        h *= isfinite(sds) ? larger(STEP / sds, SHRINK_MAX) : SHRINK_MAX;
    }
    free(at);
    return status;
}

/* Column by column: for few parameters. */
static sbps_status hessian_of(const posterior *u, const double *w, double *hessian,
                              sbps_error *err)
{
    size_t d = u->dim;
    double *unit = new_doubles(d);
    sbps_status status = unit ? SBPS_OK : fail_memory(err);
    for (size_t j = 0; j < d && status == SBPS_OK; j++) {
        unit[j] = 1.0;
        status = product_of(u, w, unit, hessian + j * d, err);
        unit[j] = 0.0;
    }
    for (size_t j = 0; j < d && status == SBPS_OK; j++)
        for (size_t i = 0; i < j; i++)
            hessian[i * d + j] = hessian[j * d + i] =
                0.5 * (hessian[i * d + j] + hessian[j * d + i]);
    free(unit);
    return status;
}

static sbps_status expansion_of(const posterior *u, const double *w, const expansion *out,
                                const row_visitor *visitor, sbps_error *err)
{
    (void)visitor;
    sbps_status status = gradient_of(u, w, out->value, out->gradient, err);
    return status == SBPS_OK ? hessian_of(u, w, out->hessian, err) : status;
}

const posterior_form form_transformed = {
    .value = value_of,
    .gradient = gradient_of,
    .hessian = hessian_of,
    .hessian_vector = product_of,
    .expand = expansion_of,
};
