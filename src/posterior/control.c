/* With P_i(w) the Taylor polynomial of log p_i at w_hat,
 *
 *   grad log p_i(w) - grad P_i(w) + (1/N) sum_j grad P_j(w)
 *
 * is as unbiased as grad log p_i(w). Its variance falls with |w - w_hat|^2 when P is linear (the
 * gradient form) and with |w - w_hat|^4 when it is quadratic (the Hessian form). A predictor model
 * needs only the derivatives of log p by eta: one number a row, or three; and by its auxiliaries. */
#include "posterior/control.h"
#include "base/dense.h"
#include "base/memory.h"
#include "data/row_sums.h"
#include "posterior/forms.h"
#include "posterior/log_prior.h"
#include "posterior/predictors.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums over all rows; the prior's part is taken off again ---- */

static sbps_status likelihood_gradient(const posterior *u, control *c, sbps_error *err)
{
    sbps_status status = posterior_gradient(u, c->w, NULL, c->gradient, err);
    for (size_t j = 0; j < u->dim; j++) c->gradient[j] = -c->gradient[j];
    log_prior_gradient(u, c->w, -1.0, c->gradient);
    return status;
}

static sbps_status likelihood_hessian(const posterior *u, control *c, const double *known,
                                      sbps_error *err)
{
    size_t d = u->dim, stride = (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    double *h = new_doubles(d * d);
    c->hessian = new_doubles(d * stride);
    sbps_status status = h && c->hessian ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && known)
        memcpy(h, known, d * d * sizeof *h);
    else if (status == SBPS_OK)
        status = posterior_hessian(u, c->w, h, err);
    if (status == SBPS_OK) log_prior_hessian(u, c->w, 1.0, h);
    for (size_t i = 0; status == SBPS_OK && i < d; i++)
        for (size_t j = 0; j < d; j++) c->hessian[i * stride + j] = -h[i * d + j];
    free(h);
    return status;
}

/* ---- each row of a predictor model ---- */

static sbps_status allocate_rows(const posterior *u, control *c, control_order order,
                                 sbps_error *err)
{
    size_t aux = u->auxiliaries, second = order == CONTROL_HESSIAN;
    size_t mean = u->model->predictor->mean != MEAN_OTHER;
    double **arrays[] = {&c->d_eta, &c->d_aux, &c->eta, &c->ee, &c->ea, &c->aa, &c->base};
    const size_t runs[] = {1,   aux, second, second, second * aux, second * packed_size(aux),
                           mean};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!runs[i]) continue;
        *arrays[i] = new_doubles(runs[i] * u->data->n);
        if (!*arrays[i]) return fail_memory(err);
    }
    return SBPS_OK;
}

static double *part(double *array, size_t first)
{
    return array ? array + first : NULL;
}

typedef struct {
    const posterior *u;
    control *c;
    padded_line line; /* stands at the reference */
} keeping;

static void keep_rows(const void *self, row_range r, double *eta, double *total)
{
    const keeping *k = self;
    const rows *data = k->u->data;
    const predictor *model = k->u->model->predictor;
    control *c = k->c;
    size_t first = r.first;
    (void)total;
    batch b = predictors_of(k->u, r, &k->line, eta, NULL);
    b.pitch = data->n;
    model->gradient(&b, c->d_eta + first, part(c->d_aux, first));
    if (c->eta) {
        memcpy(c->eta + first, eta, r.n * sizeof *eta);
        model->curvature(&b, c->ee + first, part(c->ea, first), part(c->aa, first));
    }
    for (size_t i = first; c->base && i < first + r.n; i++)
        c->base[i] = data->y[i] - c->d_eta[i] + (c->ee ? c->ee[i] * c->eta[i] : 0.0);
}

sbps_status control_rows(const posterior *u, control *c, control_order order, sbps_error *err)
{
    keeping k = {.u = u, .c = c};
    sbps_status status = allocate_rows(u, c, order, err);
    if (status == SBPS_OK) status = padded_line_open(&k.line, u, c->w, NULL, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k, .scratch = ROW_BLOCK, .add = keep_rows};
    status = row_sums(u->data, &what, NULL, err);
    free(k.line.p);
    return status;
}

/* ---- the whole ---- */

sbps_status control_create(const posterior *target, const double *w, control_order order,
                           const double *hessian, control **out, sbps_error *err)
{
    *out = NULL;
    control *c = calloc(1, sizeof *c);
    if (!c) return fail_memory(err);
    c->w = new_doubles(target->dim);
    c->gradient = new_doubles(target->dim);
    sbps_status status = c->w && c->gradient ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) {
        memcpy(c->w, w, target->dim * sizeof *w);
        status = likelihood_gradient(target, c, err);
    }
    if (status == SBPS_OK && order == CONTROL_HESSIAN)
        status = likelihood_hessian(target, c, hessian, err);
    if (status == SBPS_OK && target->form->rows)
        status = target->form->rows(target, c, order, err);
    if (status != SBPS_OK) {
        control_destroy(c);
        return status;
    }
    *out = c;
    return SBPS_OK;
}

void control_destroy(control *c)
{
    if (!c) return;
    double *arrays[] = {c->w,   c->gradient, c->hessian, c->d_eta, c->d_aux,
                        c->eta, c->ee,       c->ea,      c->aa,    c->base};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(c);
}
