/* Sums over all rows of a predictor model. With eta_i = x_i.w + offset_i, row weights c_i
 * and auxiliaries a:
 *
 *   U(w)   = -sum_j log p_j(w_j) - sum_i c_i log p(y_i | eta_i, a)                        (1)
 *   grad U = -slopes of the priors - sum_i c_i (l_eta x_i, l_a)                           (2)
 *   Hess U = -curvatures of the priors - sum_i c_i (l_ee x_i x_i', l_ea x_i; ., l_aa)     (3)
 *
 * The vector kernels compute eta, sum r_i x_i and, with few columns, a block's part of (3).
 * With more than OUTER_COLUMNS columns that part is a matrix product by OpenBLAS, of the
 * rows and the scaled rows. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/control.h"
#include "posterior/full/forms.h"
#include "posterior/full/log_prior.h"
#include "table/gathered_rows.h"
#include "table/row_sums.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* columns of the Hessian per product: little beyond its lower triangle is computed */
#define PANEL 128

/* ---- a block of rows ---- */

/* A pass over the rows at w, along a direction or along none. */
typedef struct {
    const posterior *u;
    padded_line line;
    bool value; /* with a gradient: the value is requested too */
    const row_visitor *visitor;
} sweep;

/* Scratch of a block; n numbers of it are used, ROW_BLOCK are reserved. */
typedef struct {
    double *eta, *deta;
    double *e;      /* by eta: values, first or second derivatives */
    double *a;      /* the same by the auxiliaries, ROW_BLOCK each */
    double *aa;     /* ROW_BLOCK for each pair of auxiliaries */
    double *scaled; /* for the Hessian: space for two blocks of rows */
} block_scratch;

static size_t scratch_size(const posterior *u)
{
    return (3 + u->auxiliaries + packed_size(u->auxiliaries)) * ROW_BLOCK;
}

/* A pass over a block whose rows were gathered into dense storage, visit
 * table/gathered_rows.h. */
typedef struct {
    rows x;
    posterior u;
    sweep s;
} gathered_block;

/* Doubles of scratch for that; they come first. */
static size_t gathered_size(const posterior *u)
{
    return u->data->storage.kind->gather_dense ? ROW_BLOCK * (u->data->stride + 1) : 0;
}

/* The block in a form that is fast to read several times: in place, or gathered at the start
 * of *scratch, which advances; *r is then the whole of `at`. */
static const sweep *gather_block(const sweep *s, row_range *r, double **scratch,
                                 gathered_block *at)
{
    const posterior *u = s->u;
    if (!u->data->storage.kind->gather_dense) return s;
    gathered_view(u->data, *r, *scratch, &at->x);
    *scratch += gathered_size(u);
    at->u = *u;
    at->u.data = &at->x;
    at->s = *s;
    at->s.u = &at->u;
    *r = rows_from(0, r->n);
    return &at->s;
}

static block_scratch split_scratch(const posterior *u, double *scratch)
{
    double *e = scratch + 2 * ROW_BLOCK, *a = e + ROW_BLOCK,
           *aa = a + u->auxiliaries * ROW_BLOCK;
    return (block_scratch){scratch, scratch + ROW_BLOCK, e, a, aa, scratch + scratch_size(u)};
}

/* Starts a pass at w, along v unless it is NULL; the caller frees s->line.p. */
static sbps_status sweep_open(sweep *s, const posterior *u, const double *w, const double *v,
                              sbps_error *err)
{
    *s = (sweep){.u = u};
    return padded_line_open(&s->line, u, w, v, err);
}

/* Predictors of the block, and their rates, into `at`. */
static batch predict_block(const sweep *s, row_range r, const block_scratch *at)
{
    batch b = predictors_of(s->u, r, &s->line, at->eta, at->deta);
    b.pitch = ROW_BLOCK;
    return b;
}

/* Weighs `count` arrays of ROW_BLOCK numbers each. */
static void weigh_blocks(const posterior *u, row_range r, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++) predictors_weigh(u, r, values + i * ROW_BLOCK);
}

/* Weighted log-likelihood of the block; values: scratch of r.n numbers. */
static double block_loglik(const sweep *s, row_range r, const batch *b, double *values)
{
    s->u->model->predictor->loglik(b, values);
    predictors_weigh(s->u, r, values);
    return sum(r.n, values);
}

/* ---- value, gradient ---- */

static void add_value(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    block_scratch at = split_scratch(s->u, scratch);
    batch b = predict_block(s, r, &at);
    *total += block_loglik(s, r, &b, at.e);
}

static sbps_status value_of(const posterior *u, const double *w, double *value, sbps_error *err)
{
    sweep s;
    sbps_status status = sweep_open(&s, u, w, NULL, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &s,
                          .width = 1,
                          .scratch = gathered_size(u) + scratch_size(u),
                          .add = add_value};
    double total = 0.0;
    status = row_sums(u->data, &what, &total, err);
    *value = -log_prior_value(u, w) - total;
    free(s.line.p);
    return status;
}

/* total += sum r_i x_i (padded), the auxiliaries' sums, and the log-likelihood if it is
 * requested. */
static void block_gradient(const sweep *s, row_range r, const batch *b, const block_scratch *at,
                           double *total)
{
    const posterior *u = s->u;
    if (s->value) total[u->width] += block_loglik(s, r, b, at->e);
    u->model->predictor->gradient(b, at->e, u->auxiliaries ? at->a : NULL);
    predictors_weigh(u, r, at->e);
    rows_combine(u->data, u->k, r, at->e, total);
    weigh_blocks(u, r, u->auxiliaries, at->a);
    for (size_t i = 0; i < u->auxiliaries; i++)
        total[u->data->stride + i] += sum(r.n, at->a + i * ROW_BLOCK);
}

static void add_gradient(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    const posterior *u = s->u;
    block_scratch at = split_scratch(u, scratch);
    batch b = predict_block(s, r, &at);
    block_gradient(s, r, &b, &at, total);
}

/* From a padded sum over the log-likelihood to a vector of dim numbers, with the sign of U. */
static void unpad(const posterior *u, const double *total, double *out)
{
    size_t d = u->data->d, beyond = u->data->stride - d;
    for (size_t j = 0; j < u->dim; j++) out[j] = -total[j < d ? j : j + beyond];
}

static sbps_status gradient_of(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err)
{
    sweep s;
    double *total = new_doubles(u->width + 1);
    sbps_status status = total ? sweep_open(&s, u, w, NULL, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    s.value = value;
    const row_sum what = {.self = &s,
                          .width = u->width + 1,
                          .scratch = gathered_size(u) + scratch_size(u),
                          .add = add_gradient};
    status = row_sums(u->data, &what, total, err);
    unpad(u, total, gradient);
    log_prior_gradient(u, w, -1.0, gradient);
    if (value) *value = -log_prior_value(u, w) - total[u->width];
    free(s.line.p);
done:
    free(total);
    return status;
}

/* ---- curvature ---- */

/* Second derivatives of the block's log p, times the row weights. */
static void block_curvature(const sweep *s, row_range r, const batch *b,
                            const block_scratch *at)
{
    size_t count = s->u->auxiliaries;
    s->u->model->predictor->curvature(b, at->e, count ? at->a : NULL, count ? at->aa : NULL);
    weigh_blocks(s->u, r, 1, at->e);
    weigh_blocks(s->u, r, count, at->a);
    weigh_blocks(s->u, r, packed_size(count), at->aa);
}

/* hessian -= sum l_ee x x' over the block: the lower triangle, in panels that reach a little
 * above it. */
static void add_products(const posterior *u, row_range r, const block_scratch *at,
                         double *hessian)
{
    const rows *data = u->data;
    const storage_kind *storage = data->storage.kind;
    size_t stride = data->stride, dim = u->dim, d = data->d, n = r.n;
    double *scale = at->e, *rows_of_block = at->scaled + ROW_BLOCK * stride;
    for (size_t i = 0; i < n; i++) scale[i] = -scale[i];
    if (storage->outer && storage->outer(data, u->k, r.first, n, scale, dim, hessian)) return;
    const double *x = data->storage.x ? data->storage.x + r.first * stride : rows_of_block;
    for (size_t i = 0; !data->storage.x && i < n; i++)
        storage->decode(data, r.first + i, rows_of_block + i * stride);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            at->scaled[i * stride + j] = scale[i] * x[i * stride + j];
    for (size_t j = 0; j < d; j += PANEL) {
        size_t width = d - j < PANEL ? d - j : PANEL;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(d - j), (int)width, (int)n,
                    1.0, x + j, (int)stride, at->scaled + j, (int)stride, 1.0,
                    hessian + j * dim + j, (int)dim);
    }
}

/* total: dim*dim numbers; then sum l_ea x_i, padded, of every auxiliary; then sum l_aa,
 * packed. */
static void block_hessian(const sweep *s, row_range r, const batch *b, const block_scratch *at,
                          double *total)
{
    const posterior *u = s->u;
    size_t stride = u->data->stride, count = u->auxiliaries;
    double *eta_aux = total + u->dim * u->dim, *aux_pairs = eta_aux + count * stride;
    block_curvature(s, r, b, at);
    add_products(u, r, at, total);
    for (size_t i = 0; i < count; i++)
        rows_combine(u->data, u->k, r, at->a + i * ROW_BLOCK, eta_aux + i * stride);
    for (size_t i = 0; i < packed_size(count); i++)
        aux_pairs[i] += sum(r.n, at->aa + i * ROW_BLOCK);
}

static void add_hessian(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    block_scratch at = split_scratch(s->u, scratch);
    batch b = predict_block(s, r, &at);
    block_hessian(s, r, &b, &at, total);
}

/* Length of the sum that add_hessian adds to. */
static size_t hessian_width(const posterior *u)
{
    size_t count = u->auxiliaries;
    return u->dim * u->dim + count * u->data->stride + packed_size(count);
}

/* The Hessian of U from that sum: copies the auxiliaries' rows, symmetrises, adds the
 * priors. */
static void finish_hessian(const posterior *u, const double *w, const double *total,
                           double *hessian)
{
    size_t dim = u->dim, d = u->data->d, stride = u->data->stride;
    const double *eta_aux = total + dim * dim, *aux_pairs = eta_aux + u->auxiliaries * stride;
    memcpy(hessian, total, dim * dim * sizeof *hessian);
    for (size_t i = 0; i < u->auxiliaries; i++) {
        double *row = hessian + (d + i) * dim;
        for (size_t j = 0; j < d; j++) row[j] = -eta_aux[i * stride + j];
        for (size_t j = 0; j <= i; j++) row[d + j] = -aux_pairs[packed_index(i, j)];
    }
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < j; i++) hessian[i * dim + j] = hessian[j * dim + i];
    log_prior_hessian(u, w, -1.0, hessian);
}

static size_t hessian_scratch(const posterior *u)
{
    return scratch_size(u) + 2 * u->data->stride * ROW_BLOCK;
}

static sbps_status hessian_of(const posterior *u, const double *w, double *hessian,
                              sbps_error *err)
{
    sweep s;
    double *total = new_doubles(hessian_width(u));
    sbps_status status = total ? sweep_open(&s, u, w, NULL, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    const row_sum what = {.self = &s,
                          .width = hessian_width(u),
                          .scratch = gathered_size(u) + hessian_scratch(u),
                          .add = add_hessian};
    status = row_sums(u->data, &what, total, err);
    if (status == SBPS_OK) finish_hessian(u, w, total, hessian);
    free(s.line.p);
done:
    free(total);
    return status;
}

/* ---- value, gradient and Hessian in one pass ---- */

/* total: as in add_gradient, then as in add_hessian, then the visitor's sum. */
static void add_expansion(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const row_range original = r;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    const row_visitor *c = s->visitor;
    double *hessian = total + s->u->width + 1, *own = hessian + hessian_width(s->u);
    block_scratch at = split_scratch(s->u, scratch);
    batch b = predict_block(s, r, &at);
    if (c) c->visit(c->self, original, &b, scratch + hessian_scratch(s->u), own);
    block_gradient(s, r, &b, &at, total);
    block_hessian(s, r, &b, &at, hessian);
}

static sbps_status expansion_of(const posterior *u, const double *w, const expansion *out,
                                const row_visitor *visitor, sbps_error *err)
{
    sweep s;
    size_t own_width = u->width + 1 + hessian_width(u),
           visitor_width = visitor ? visitor->width : 0;
    double *total = new_doubles(own_width + visitor_width);
    sbps_status status = total ? sweep_open(&s, u, w, NULL, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    s.value = true;
    s.visitor = visitor;
    const row_sum what = {.self = &s,
                          .width = own_width + visitor_width,
                          .scratch = gathered_size(u) + hessian_scratch(u) +
                                     (visitor ? visitor->scratch : 0),
                          .add = add_expansion};
    status = row_sums(u->data, &what, total, err);
    *out->value = -log_prior_value(u, w) - total[u->width];
    unpad(u, total, out->gradient);
    log_prior_gradient(u, w, -1.0, out->gradient);
    finish_hessian(u, w, total + u->width + 1, out->hessian);
    if (visitor_width) memcpy(visitor->total, total + own_width, visitor_width * sizeof *total);
    free(s.line.p);
done:
    free(total);
    return status;
}

/* ---- products with the Hessian ---- */

/* Auxiliary j's component of the product; adds its part of l_ee d eta to at->e. */
static void add_auxiliary_product(const batch *b, const block_scratch *at, size_t j,
                                  size_t count, double *total)
{
    const double *ea = at->a + j * ROW_BLOCK;
    for (size_t i = 0; i < b->n; i++) {
        double own = ea[i] * b->deta[i];
        for (size_t k = 0; k < count; k++)
            own += at->aa[packed_index(j, k) * ROW_BLOCK + i] * b->daux[k];
        *total += own;
        at->e[i] += ea[i] * b->daux[j];
    }
}

/* total (padded) += the block's part of sum (l_ee d eta + l_ea.d aux) x, and of the
 * auxiliaries' components. */
static void add_product(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    const posterior *u = s->u;
    block_scratch at = split_scratch(u, scratch);
    batch b = predict_block(s, r, &at);
    block_curvature(s, r, &b, &at);
    for (size_t i = 0; i < r.n; i++) at.e[i] *= at.deta[i];
    for (size_t j = 0; j < u->auxiliaries; j++)
        add_auxiliary_product(&b, &at, j, u->auxiliaries, total + u->data->stride + j);
    rows_combine(u->data, u->k, r, at.e, total);
}

static sbps_status product_of(const posterior *u, const double *w, const double *v, double *hv,
                              sbps_error *err)
{
    sweep s;
    double *total = new_doubles(u->width);
    sbps_status status = total ? sweep_open(&s, u, w, v, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    const row_sum what = {.self = &s,
                          .width = u->width,
                          .scratch = gathered_size(u) + scratch_size(u),
                          .add = add_product};
    status = row_sums(u->data, &what, total, err);
    unpad(u, total, hv);
    log_prior_product(u, w, v, -1.0, hv);
    free(s.line.p);
done:
    free(total);
    return status;
}

const posterior_form form_predictor = {
    .value = value_of,
    .gradient = gradient_of,
    .hessian = hessian_of,
    .expand = expansion_of,
    .hessian_vector = product_of,
    .rows = control_visit_all,
};
