/* Control variates. With P_i(w) the Taylor polynomial of log p_i at w_hat,
 *
 *   grad log p_i(w) - grad P_i(w) + (1/N) sum_j grad P_j(w)
 *
 * is an unbiased estimate, as grad log p_i(w) is. Its variance falls with |w - w_hat|^2 when
 * P is linear (the gradient form) and with |w - w_hat|^4 when it is quadratic (the Hessian
 * form). A predictor model stores only the derivatives of log p by eta, one number per row
 * or three, and by its auxiliaries. */
#include "posterior/full/control.h"
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/forms.h"
#include "posterior/full/log_prior.h"
#include "table/row_sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums over all rows, without the prior's part ---- */

static size_t hessian_stride(size_t d)
{
    return (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
}

static void set_gradient(const posterior *u, control *c, const double *gradient)
{
    for (size_t j = 0; j < u->dim; j++) c->gradient[j] = -gradient[j];
    log_prior_gradient(u, c->w, -1.0, c->gradient);
}

/* hessian: that of the posterior; on return, that of minus the log-likelihood. */
static void set_hessian(const posterior *u, control *c, double *hessian)
{
    size_t d = u->dim, stride = hessian_stride(d);
    log_prior_hessian(u, c->w, 1.0, hessian);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) c->hessian[i * stride + j] = -hessian[i * d + j];
}

static sbps_status compute_gradient(const posterior *u, control *c, sbps_error *err)
{
    sbps_status status = posterior_gradient(u, c->w, NULL, c->gradient, err);
    if (status == SBPS_OK) set_gradient(u, c, c->gradient);
    return status;
}

typedef struct {
    const control *c;
    size_t dim;
} stored_gradients;

/* Adds the stored gradients of some groups. */
static void add_each(const void *self, row_range r, double *scratch, double *total)
{
    const stored_gradients *s = self;
    (void)scratch;
    for (size_t i = 0; i < r.n; i++)
        add_scaled(s->dim, 1.0, s->c->each + row_index(r, i) * s->c->each_size, total);
}

/* Computes the gradient and the numbers of each row. Where rows are groups, which are expensive,
 * the gradient is the sum of the stored ones. */
static sbps_status compute_rows(const posterior *u, control *c, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bool groups = u->model->row_model;
    if (groups && u->form->rows) status = u->form->rows(u, c, err);
    const stored_gradients stored = {c, u->dim};
    const row_sum each = {.self = &stored, .width = u->dim, .add = add_each, .uncounted = true};
    if (status == SBPS_OK && groups && c->each) {
        memset(c->gradient, 0, u->dim * sizeof *c->gradient);
        return row_sums(u->data, &each, c->gradient, err);
    }
    if (status == SBPS_OK) status = compute_gradient(u, c, err);
    return status == SBPS_OK && !groups && u->form->rows ? u->form->rows(u, c, err) : status;
}

/* Second order: c->hessian from `known`, the Hessian of U, or from a pass over the rows. */
static sbps_status compute_hessian(const posterior *u, control *c, const double *known,
                                   sbps_error *err)
{
    size_t d = u->dim;
    double *h = new_doubles(d * d);
    sbps_status status = h ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && known)
        memcpy(h, known, d * d * sizeof *h);
    else if (status == SBPS_OK)
        status = posterior_hessian(u, c->w, h, err);
    if (status == SBPS_OK) set_hessian(u, c, h);
    free(h);
    return status;
}

/* ---- numbers of each row of a predictor model ---- */

static void set_point(const posterior *u, control *c)
{
    if (c->at) memcpy(c->at, c->w, u->columns * sizeof *c->at);
}

/* Allocates the arrays with numbers per row that this order and model need. */
static sbps_status allocate_rows(const posterior *u, control *c, control_order order,
                                 sbps_error *err)
{
    if (u->data->recompute_rows) {
        /* Only the reference point is stored. */
        c->at = new_doubles(u->width);
        return c->at ? SBPS_OK : fail_memory(err);
    }
    size_t aux = u->auxiliaries, second = order == CONTROL_HESSIAN;
    size_t mean = u->model->predictor->mean != MEAN_OTHER;
    double **arrays[] = {&c->d_eta, &c->d_aux, &c->eta, &c->ee, &c->ea, &c->aa, &c->base};
    const size_t runs[] = {1,   aux, second, second, second * aux, second * packed_size(aux),
                           mean};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!runs[i]) continue;
        *arrays[i] = unset_doubles(runs[i] * u->data->local_rows); /* filled by control_visit */
        if (!*arrays[i]) return fail_memory(err);
    }
    return SBPS_OK;
}

static double *offset_or_null(double *array, size_t first)
{
    return array ? array + first : NULL;
}

typedef struct {
    const posterior *u;
    control *c;
    padded_line line; /* the line's point is the reference */
} keep_context;

/* c->base of rows first .. first + n - 1, from the stored derivatives. */
static void set_base(const rows *data, control *c, size_t first, size_t n)
{
    for (size_t i = first; c->base && i < first + n; i++)
        c->base[i] = data->y[i] - c->d_eta[i] + (c->ee ? c->ee[i] * c->eta[i] : 0.0);
}

void control_visit(const posterior *u, control *c, row_range r, const batch *b)
{
    const predictor *model = u->model->predictor;
    size_t first = r.first;
    batch here = *b;
    if (c->at) return;
    here.pitch = u->data->local_rows;
    model->gradient(&here, c->d_eta + first, offset_or_null(c->d_aux, first));
    if (c->eta) {
        memcpy(c->eta + first, b->eta, r.n * sizeof *b->eta);
        model->curvature(&here, c->ee + first, offset_or_null(c->ea, first),
                         offset_or_null(c->aa, first));
    }
    set_base(u->data, c, first, r.n);
}

/* Row sum without a total: stores the numbers of a block. */
static void keep_rows(const void *self, row_range r, double *eta, double *total)
{
    const keep_context *k = self;
    (void)total;
    batch b = predictors_of(k->u, r, &k->line, eta, NULL);
    control_visit(k->u, k->c, r, &b);
}

sbps_status control_visit_all(const posterior *u, control *c, sbps_error *err)
{
    keep_context k = {.u = u, .c = c};
    set_point(u, c);
    if (c->at) return SBPS_OK;
    sbps_status status = padded_line_open(&k.line, u, c->w, NULL, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k, .scratch = ROW_BLOCK, .add = keep_rows};
    status = row_sums(u->data, &what, NULL, err);
    free(k.line.p);
    return status;
}

/* ---- creating and destroying ---- */

sbps_status control_allocate(const posterior *u, control_order order, control **out,
                             sbps_error *err)
{
    size_t d = u->dim;
    control *c = *out = calloc(1, sizeof *c);
    if (!c) return fail_memory(err);
    c->w = new_doubles(d);
    c->gradient = new_doubles(d);
    if (order == CONTROL_HESSIAN) c->hessian = new_doubles(d * hessian_stride(d));
    bool all = c->w && c->gradient && (c->hessian || order == CONTROL_GRADIENT);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && u->model->predictor) status = allocate_rows(u, c, order, err);
    if (status == SBPS_OK) return status;
    control_destroy(c);
    *out = NULL;
    return status;
}

void control_sums(const posterior *u, control *c, const double *gradient, const double *hessian,
                  double *scratch)
{
    memcpy(scratch, hessian, u->dim * u->dim * sizeof *scratch);
    set_point(u, c);
    set_gradient(u, c, gradient);
    set_hessian(u, c, scratch);
}

void control_reduce(const posterior *u, control *c)
{
    double **second[] = {&c->hessian, &c->eta, &c->ee, &c->ea, &c->aa};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        free(*second[i]);
        *second[i] = NULL;
    }
    set_base(u->data, c, 0, u->data->local_rows);
}

sbps_status control_create(const posterior *target, const double *w, control_order order,
                           const double *hessian, control **out, sbps_error *err)
{
    control *c;
    sbps_status status = control_allocate(target, order, out, err);
    if (status != SBPS_OK) return status;
    c = *out;
    memcpy(c->w, w, target->dim * sizeof *w);
    status = compute_rows(target, c, err);
    if (status == SBPS_OK && order == CONTROL_HESSIAN)
        status = compute_hessian(target, c, hessian, err);
    if (status == SBPS_OK) return SBPS_OK;
    control_destroy(c);
    *out = NULL;
    return status;
}

void control_destroy(control *c)
{
    if (!c) return;
    double *arrays[] = {c->w,  c->gradient, c->hessian, c->d_eta, c->d_aux, c->eta,
                        c->ee, c->ea,       c->aa,      c->base,  c->each,  c->at};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(c);
}
