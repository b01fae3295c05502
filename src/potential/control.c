/*   g_i(w) - g_i(w_hat) + (1/N) sum g(w_hat)
 *
 * is as unbiased as g_i(w) and its variance falls with |w - w_hat|^2. A predictor model needs only
 * r_i = d log p_i/d eta at the reference: the row's slope loses r_i d eta/dt. */
#include "potential/control.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)512)

/* grad of the log-likelihood alone: the prior's part is taken off again. */
static sbps_status likelihood_gradient(const posterior *u, control *c, sbps_error *err)
{
    sbps_status status = posterior_gradient(u, c->w, NULL, c->gradient, err);
    for (size_t j = 0; j < u->dim; j++)
        c->gradient[j] = -c->gradient[j] - prior_slope(&u->priors[j], u->scale[j], c->w[j]);
    return status;
}

static sbps_status row_residuals(const posterior *u, control *c, sbps_error *err)
{
    const rows *data = u->data;
    double *p = new_doubles(data->stride + BLOCK), *eta = p + data->stride;
    c->d_eta = new_doubles(data->n);
    if (u->model->aux_name) c->d_aux = new_doubles(data->n);
    if (!p || !c->d_eta || (u->model->aux_name && !c->d_aux)) {
        free(p);
        return fail_memory(err);
    }
    memcpy(p, c->w, data->d * sizeof *p);
    for (size_t first = 0; first < data->n; first += BLOCK) {
        size_t n = data->n - first < BLOCK ? data->n - first : BLOCK;
        rows_products(data, u->k, rows_from(first, n), p, NULL, eta, NULL);
        for (size_t i = 0; data->offset && i < n; i++) eta[i] += data->offset[first + i];
        batch b = {.k = u->k, .n = n, .eta = eta, .y = data->y + first};
        if (c->d_aux) b.aux = c->w[data->d];
        u->model->gradient(&b, c->d_eta + first, c->d_aux ? c->d_aux + first : NULL);
    }
    free(p);
    return SBPS_OK;
}

sbps_status control_create(const posterior *target, const double *w, control **out,
                           sbps_error *err)
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
    if (status == SBPS_OK && !target->model->general) status = row_residuals(target, c, err);
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
    free(c->d_aux);
    free(c->d_eta);
    free(c->gradient);
    free(c->w);
    free(c);
}
