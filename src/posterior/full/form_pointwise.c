/* Sums over all rows of a model that is evaluated at w itself. A model without Hessian
 * products gets central differences of the gradient,
 *
 *   H v = (grad U(w + h v) - grad U(w - h v)) / 2h + O(h^2),
 *   h = eps^(1/3) (1 + |w|) / |v|. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/control.h"
#include "posterior/full/forms.h"
#include "posterior/full/log_prior.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is evaluated for every block of rows, and where. */
typedef struct {
    const posterior *u;
    const double *w, *v; /* v: direction of a Hessian product */
    bool value;          /* with a gradient: the value is added behind it */
} row_query;

/* Writes minus the row negated_weights (the sign of U) to scratch; returns the model's part
 * of the scratch. */
static double *negated_weights(const posterior *u, row_range r, double *scratch)
{
    const double *weight = u->data->weight;
    for (size_t i = 0; i < r.n; i++) scratch[i] = weight ? -weight[r.first + i] : -1.0;
    return scratch + 2 * ROW_BLOCK;
}

static size_t scratch_size(const posterior *u)
{
    return 2 * ROW_BLOCK + u->model->rows.scratch(u->self, ROW_BLOCK);
}

/* Row sums: total[0] += minus the weighted log-likelihood of the block. */
static void add_value(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    double *own = negated_weights(q->u, r, scratch), *values = scratch + ROW_BLOCK;
    q->u->model->rows.loglik(q->u->self, r, q->w, own, values);
    for (size_t i = 0; i < r.n; i++) *total += scratch[i] * values[i];
}

/* total (dim, and the value behind it if requested) += the block's part of grad U. */
static void add_gradient(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    double *own = negated_weights(q->u, r, scratch);
    q->u->model->rows.gradient(q->u->self, r, q->w, scratch, own, total);
    if (q->value) add_value(self, r, scratch, total + q->u->dim);
}

/* total (dim) += the block's part of Hess U v. */
static void add_product(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    double *own = negated_weights(q->u, r, scratch);
    q->u->model->rows.hessian_vector(q->u->self, r, q->w, q->v, scratch, own, total);
}

/* Products with the unit vectors, one after another while the block is in cache. */
static void add_hessian(const void *self, row_range r, double *scratch, double *total)
{
    row_query q = *(const row_query *)self;
    size_t d = q.u->dim;
    double *unit = scratch + scratch_size(q.u);
    q.v = memset(unit, 0, d * sizeof *unit);
    for (size_t j = 0; j < d; j++) {
        unit[j] = 1.0;
        add_product(&q, r, scratch, total + j * d);
        unit[j] = 0.0;
    }
}

/* total: gradient (dim), value, Hessian (dim*dim). */
static void add_expansion(const void *self, row_range r, double *scratch, double *total)
{
    const row_query *q = self;
    size_t d = q->u->dim;
    if (q->u->model->rows.expand) {
        double *own = negated_weights(q->u, r, scratch);
        q->u->model->rows.expand(q->u->self, r, q->w, scratch, own, total + d, total,
                                 total + d + 1);
        return;
    }
    add_gradient(self, r, scratch, total);
    add_hessian(self, r, scratch, total + d + 1);
}

/* Adds the sum over all rows of `add` to total, which has `width` numbers. */
static sbps_status sum_rows(const row_query *q, size_t width,
                            void (*add)(const void *, row_range, double *, double *),
                            double *total, sbps_error *err)
{
    const posterior *u = q->u;
    const row_sum what = {
        .self = q, .width = width, .scratch = scratch_size(u) + u->dim, .add = add};
    return row_sums(u->data, &what, total, err);
}

/* ---- the prior's part, where sums over rows begin ---- */

static void begin_gradient(const posterior *u, const double *w, double *gradient)
{
    memset(gradient, 0, u->dim * sizeof *gradient);
    log_prior_gradient(u, w, -1.0, gradient);
}

/* hessian = the priors' part, by products with unit vectors; unit: scratch of dim numbers. */
static void begin_hessian(const posterior *u, const double *w, double *unit, double *hessian)
{
    size_t d = u->dim;
    memset(hessian, 0, d * d * sizeof *hessian);
    memset(unit, 0, d * sizeof *unit);
    for (size_t j = 0; j < d; j++) {
        unit[j] = 1.0;
        log_prior_product(u, w, unit, -1.0, hessian + j * d);
        unit[j] = 0.0;
    }
}

/* Symmetrises: products are symmetric only to rounding, differences less so, and models that
 * expand fill the lower triangle alone. */
static void make_symmetric(const posterior *u, double *hessian)
{
    size_t d = u->dim;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < j; i++) {
            double low = hessian[j * d + i],
                   high = u->model->rows.expand ? low : hessian[i * d + j];
            hessian[i * d + j] = hessian[j * d + i] = 0.5 * (high + low);
        }
}

/* ---- value, gradient ---- */

static sbps_status value_of(const posterior *u, const double *w, double *value, sbps_error *err)
{
    const row_query q = {.u = u, .w = w};
    *value = -log_prior_value(u, w);
    return sum_rows(&q, 1, add_value, value, err);
}

static sbps_status slopes_of(const posterior *u, const double *w, double *gradient,
                             sbps_error *err)
{
    const row_query q = {.u = u, .w = w};
    begin_gradient(u, w, gradient);
    return sum_rows(&q, u->dim, add_gradient, gradient, err);
}

/* Gradient and, unless NULL, value, in one pass. */
static sbps_status gradient_of(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err)
{
    const row_query q = {.u = u, .w = w, .value = true};
    size_t d = u->dim;
    if (!value) return slopes_of(u, w, gradient, err);
    double *total = new_doubles(d + 1);
    if (!total) return fail_memory(err);
    begin_gradient(u, w, total);
    total[d] = -log_prior_value(u, w);
    sbps_status status = sum_rows(&q, d + 1, add_gradient, total, err);
    memcpy(gradient, total, d * sizeof *gradient);
    *value = total[d];
    free(total);
    return status;
}

/* ---- curvature ---- */

/* hv = Hess U v by the central difference above. */
static sbps_status difference_product(const posterior *u, const double *w, const double *v,
                                      double *hv, sbps_error *err)
{
    size_t d = u->dim;
    double h = cbrt(DBL_EPSILON) * (1.0 + norm(d, w)) / norm(d, v);
    double *at = new_doubles(2 * d), *low = at + d;
    if (!at) return fail_memory(err);
    for (size_t j = 0; j < d; j++) at[j] = w[j] - h * v[j];
    sbps_status status = slopes_of(u, at, low, err);
    for (size_t j = 0; j < d; j++) at[j] = w[j] + h * v[j];
    if (status == SBPS_OK) status = slopes_of(u, at, hv, err);
    for (size_t j = 0; j < d; j++) hv[j] = (hv[j] - low[j]) / (2.0 * h);
    free(at);
    return status;
}

static sbps_status product_of(const posterior *u, const double *w, const double *v, double *hv,
                              sbps_error *err)
{
    const row_query q = {.u = u, .w = w, .v = v};
    if (!u->model->rows.hessian_vector) return difference_product(u, w, v, hv, err);
    memset(hv, 0, u->dim * sizeof *hv);
    log_prior_product(u, w, v, -1.0, hv);
    return sum_rows(&q, u->dim, add_product, hv, err);
}

/* The Hessian by dim difference products. */
static sbps_status hessian_by_columns(const posterior *u, const double *w, double *unit,
                                      double *hessian, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    memset(unit, 0, u->dim * sizeof *unit);
    for (size_t j = 0; j < u->dim && status == SBPS_OK; j++) {
        unit[j] = 1.0;
        status = difference_product(u, w, unit, hessian + j * u->dim, err);
        unit[j] = 0.0;
    }
    return status;
}

static sbps_status expansion_of(const posterior *u, const double *w, const expansion *out,
                                const row_visitor *visitor, sbps_error *err);

/* The Hessian of a model that expands, from a complete expansion. */
static sbps_status expanded_hessian(const posterior *u, const double *w, double *hessian,
                                    sbps_error *err)
{
    double value, *gradient = new_doubles(u->dim);
    const expansion out = {&value, gradient, hessian};
    sbps_status status = gradient ? expansion_of(u, w, &out, NULL, err) : fail_memory(err);
    free(gradient);
    return status;
}

static sbps_status hessian_of(const posterior *u, const double *w, double *hessian,
                              sbps_error *err)
{
    size_t d = u->dim;
    if (u->model->rows.expand) return expanded_hessian(u, w, hessian, err);
    const row_query q = {.u = u, .w = w};
    double *unit = new_doubles(d);
    if (!unit) return fail_memory(err);
    sbps_status status;
    if (u->model->rows.hessian_vector) {
        begin_hessian(u, w, unit, hessian);
        status = sum_rows(&q, d * d, add_hessian, hessian, err);
    } else {
        status = hessian_by_columns(u, w, unit, hessian, err);
    }
    make_symmetric(u, hessian);
    free(unit);
    return status;
}

/* For models with Hessian products, see posterior_expands. The visitor is not called: rows
 * have no predictors here. */
static sbps_status expansion_of(const posterior *u, const double *w, const expansion *out,
                                const row_visitor *visitor, sbps_error *err)
{
    (void)visitor;
    size_t d = u->dim;
    const row_query q = {.u = u, .w = w, .value = true};
    double *total = new_doubles(2 * d + 1 + d * d), *hessian = total + d + 1;
    if (!total) return fail_memory(err);
    begin_gradient(u, w, total);
    total[d] = -log_prior_value(u, w);
    begin_hessian(u, w, hessian + d * d, hessian);
    sbps_status status = sum_rows(&q, d + 1 + d * d, add_expansion, total, err);
    memcpy(out->gradient, total, d * sizeof *total);
    *out->value = total[d];
    memcpy(out->hessian, hessian, d * d * sizeof *hessian);
    make_symmetric(u, out->hessian);
    free(total);
    return status;
}

/* ---- numbers per row for control variates ---- */

#define EACH_FRACTION 0.25 /* largest part of the machine's memory */

typedef struct {
    const posterior *u;
    control *c;
} keep_context;

/* Scratch: gradient and Hessian of one row, then the model's own. */
static void keep_rows(const void *self, row_range r, double *scratch, double *total)
{
    const keep_context *k = self;
    const posterior *u = k->u;
    size_t d = u->dim, whole = d + d * d;
    double one = 1.0, value;
    (void)total;
    for (size_t i = 0; i < r.n; i++) {
        double *to = k->c->each + (r.first + i) * k->c->each_size;
        memset(scratch, 0, whole * sizeof *scratch);
        u->model->rows.expand(u->self, rows_from(r.first + i, 1), k->c->w, &one,
                              scratch + whole, &value, scratch, scratch + d);
        memcpy(to, scratch, d * sizeof *to);
        for (size_t a = 0; a < d && k->c->hessian; a++)
            memcpy(to + d + packed_size(a), scratch + d + a * d, (a + 1) * sizeof *to);
    }
}

/* Stores gradient and Hessian of every row in c->each, unless they would take too much
 * memory. */
static sbps_status keep_each_row(const posterior *u, control *c, sbps_error *err)
{
    size_t d = u->dim, size = d + (c->hessian ? packed_size(d) : 0);
    double bytes = (double)u->data->local_rows * (double)size * sizeof *c->each;
    if (!u->model->rows.expand || bytes > EACH_FRACTION * machine_memory()) return SBPS_OK;
    const keep_context k = {u, c};
    const row_sum what = {.self = &k,
                          .scratch = d + d * d + u->model->rows.scratch(u->self, 1),
                          .add = keep_rows};
    c->each_size = size;
    c->each = unset_doubles(u->data->local_rows * size);
    return c->each ? row_sums(u->data, &what, NULL, err) : fail_memory(err);
}

const posterior_form form_pointwise = {
    .value = value_of,
    .gradient = gradient_of,
    .hessian = hessian_of,
    .expand = expansion_of,
    .hessian_vector = product_of,
    .rows = keep_each_row,
};
