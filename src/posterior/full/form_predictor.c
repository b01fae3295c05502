/* Sums over all rows of a predictor's model. With eta_i = x_i.w + offset_i, row weights c_i and auxiliaries
 * a:
 *
 *   U(w)   = -sum_j log p_j(w_j) - sum_i c_i log p(y_i | eta_i, a)                        (1)
 *   grad U = -slopes of the priors - sum_i c_i (l_eta x_i, l_a)                           (2)
 *   Hess U = -curvatures of the priors - sum_i c_i (l_ee x_i x_i', l_ea x_i; ., l_aa)     (3)
 *
 * The vector kernels give eta, sum r_i x_i and, of few columns, the part of (3) of a block. Of more than OUTER_COLUMNS
 * that is a matrix product by OpenBLAS, the rows against the rows scaled. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/forms.h"
#include "posterior/full/log_prior.h"
#include "posterior/full/predictors.h"
#include "table/gathered_rows.h"
#include "table/row_sums.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define PANEL 128 /* columns of the Hessian at a time: only its lower triangle is made */

/* ---- a block of rows ---- */

/* A pass over the rows at w, along a direction or along none. */
typedef struct {
    const posterior *u;
    padded_line line;
    bool value; /* of a gradient: the value is wanted too */
    const row_visitor *beside;
} sweep;

/* What a block is worked on with. */
typedef struct {
    double *eta, *deta;
    double *e;      /* by eta: values, first or second derivatives */
    double *a;      /* the same by the auxiliaries, a block each */
    double *aa;     /* a block for each two of them */
    double *scaled; /* of the Hessian: room for two blocks of rows */
} block_scratch;

static size_t scratch_size(const posterior *u)
{
    return (3 + u->auxiliaries + packed_size(u->auxiliaries)) * ROW_BLOCK;
}

/* A pass over a block that was laid out, see table/gathered_rows.h. */
typedef struct {
    rows x;
    posterior u;
    sweep s;
} gathered_block;

/* Scratch of that, before all other. */
static size_t gathered_size(const posterior *u)
{
    return u->data->storage->gather_dense ? ROW_BLOCK * (u->data->stride + 1) : 0;
}

/* The block as it is best looked at several times: where it lies, or laid out, *r then being all of `at`. */
static const sweep *gather_block(const sweep *s, row_range *r, double **scratch,
                                 gathered_block *at)
{
    const posterior *u = s->u;
    if (!u->data->storage->gather_dense) return s;
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

static sbps_status sweep_open(sweep *s, const posterior *u, const double *w, const double *v,
                              sbps_error *err)
{
    *s = (sweep){.u = u};
    return padded_line_open(&s->line, u, w, v, err);
}

static batch predict_block(const sweep *s, row_range r, const block_scratch *at)
{
    batch b = predictors_of(s->u, r, &s->line, at->eta, at->deta);
    b.pitch = ROW_BLOCK;
    return b;
}

/* Each of so many blocks. */
static void weigh_blocks(const posterior *u, row_range r, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++) predictors_weigh(u, r, values + i * ROW_BLOCK);
}

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

/* sum r_i x_i, padded; then those of the auxiliaries, and the log-likelihood. */
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

/* From a point as the rows want it to one as everybody else does, with the sign of U. */
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

/* The model's second derivatives of the block, weighed. */
static void block_curvature(const sweep *s, row_range r, const batch *b,
                            const block_scratch *at)
{
    size_t count = s->u->auxiliaries;
    s->u->model->predictor->curvature(b, at->e, count ? at->a : NULL, count ? at->aa : NULL);
    weigh_blocks(s->u, r, 1, at->e);
    weigh_blocks(s->u, r, count, at->a);
    weigh_blocks(s->u, r, packed_size(count), at->aa);
}

/* hessian -= sum l_ee x x' over the block, lower triangle by panels (and a little above it). */
static void add_products(const posterior *u, row_range r, const block_scratch *at,
                         double *hessian)
{
    const rows *data = u->data;
    const storage_kind *storage = data->storage;
    size_t stride = data->stride, dim = u->dim, d = data->d, n = r.n;
    double *scale = at->e, *rows_of_block = at->scaled + ROW_BLOCK * stride;
    for (size_t i = 0; i < n; i++) scale[i] = -scale[i];
    if (storage->outer && storage->outer(data, u->k, r.first, n, scale, dim, hessian)) return;
    const double *x = data->x ? data->x + r.first * stride : rows_of_block;
    for (size_t i = 0; !data->x && i < n; i++)
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

/* dim*dim; then, of every auxiliary, sum l_ea x_i, padded; and sum l_aa, packed. */
static void block_hessian(const sweep *s, row_range r, const batch *b, const block_scratch *at,
                          double *total)
{
    const posterior *u = s->u;
    size_t stride = u->data->stride, count = u->auxiliaries;
    double *beside = total + u->dim * u->dim, *among = beside + count * stride;
    block_curvature(s, r, b, at);
    add_products(u, r, at, total);
    for (size_t i = 0; i < count; i++)
        rows_combine(u->data, u->k, r, at->a + i * ROW_BLOCK, beside + i * stride);
    for (size_t i = 0; i < packed_size(count); i++)
        among[i] += sum(r.n, at->aa + i * ROW_BLOCK);
}

static void add_hessian(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    block_scratch at = split_scratch(s->u, scratch);
    batch b = predict_block(s, r, &at);
    block_hessian(s, r, &b, &at, total);
}

static size_t hessian_width(const posterior *u)
{
    size_t count = u->auxiliaries;
    return u->dim * u->dim + count * u->data->stride + packed_size(count);
}

static void finish_hessian(const posterior *u, const double *w, const double *total,
                           double *hessian)
{
    size_t dim = u->dim, d = u->data->d, stride = u->data->stride;
    const double *beside = total + dim * dim, *among = beside + u->auxiliaries * stride;
    memcpy(hessian, total, dim * dim * sizeof *hessian);
    for (size_t i = 0; i < u->auxiliaries; i++) {
        double *row = hessian + (d + i) * dim;
        for (size_t j = 0; j < d; j++) row[j] = -beside[i * stride + j];
        for (size_t j = 0; j <= i; j++) row[d + j] = -among[packed_index(i, j)];
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

/* ---- all of it at once ---- */

/* As add_gradient has it, then as add_hessian. */
static void add_expansion(const void *self, row_range r, double *scratch, double *total)
{
    gathered_block gathered;
    const row_range there = r;
    const sweep *s = gather_block(self, &r, &scratch, &gathered);
    const row_visitor *c = s->beside;
    double *hessian = total + s->u->width + 1, *own = hessian + hessian_width(s->u);
    block_scratch at = split_scratch(s->u, scratch);
    batch b = predict_block(s, r, &at);
    if (c) c->see(c->self, there, &b, scratch + hessian_scratch(s->u), own);
    block_gradient(s, r, &b, &at, total);
    block_hessian(s, r, &b, &at, hessian);
}

static sbps_status expansion_of(const posterior *u, const double *w, const expansion *out,
                                const row_visitor *beside, sbps_error *err)
{
    sweep s;
    size_t ours = u->width + 1 + hessian_width(u), theirs = beside ? beside->width : 0;
    double *total = new_doubles(ours + theirs);
    sbps_status status = total ? sweep_open(&s, u, w, NULL, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    s.value = true;
    s.beside = beside;
    const row_sum what = {.self = &s,
                          .width = ours + theirs,
                          .scratch = gathered_size(u) + hessian_scratch(u) +
                                     (beside ? beside->scratch : 0),
                          .add = add_expansion};
    status = row_sums(u->data, &what, total, err);
    *out->value = -log_prior_value(u, w) - total[u->width];
    unpad(u, total, out->gradient);
    log_prior_gradient(u, w, -1.0, out->gradient);
    finish_hessian(u, w, total + u->width + 1, out->hessian);
    if (theirs) memcpy(beside->total, total + ours, theirs * sizeof *total);
    free(s.line.p);
done:
    free(total);
    return status;
}

/* ---- products with the Hessian ---- */

/* What auxiliary j, of so many, has in the product; its part in l_ee d eta goes to at->e. */
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
    .rows = control_rows,
};
