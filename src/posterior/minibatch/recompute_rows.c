/* With e_hat the predictor at the reference, base = y - l_e + l_ee e_hat; and where l_e = y - mean(eta) the target does not
 * matter: base = mean(e_hat) + l_ee e_hat. */
#include "posterior/minibatch/recompute_rows.h"
#include "linalg/dense_matrix.h"

#include <string.h>

/* eta, d_eta and ee; d_aux and ea; aa. */
size_t recompute_blocks(const posterior *target)
{
    size_t k = target->auxiliaries;
    return target->data->recompute_rows && target->model->predictor ? 3 + 2 * k + packed_size(k)
                                                                    : 0;
}

/* The arrays of u->seen, as far as the control variate would have them. */
static void carve_control(minibatch *u)
{
    size_t k = u->target->auxiliaries, block = u->block;
    double *at = u->recomputed;
    u->seen = (control){.w = u->cv->w, .hessian = u->cv->hessian, .at = u->cv->at};
    u->seen.eta = at;
    u->seen.d_eta = at + block;
    u->seen.ee = at + 2 * block;
    u->seen.d_aux = k ? at + 3 * block : NULL;
    u->seen.ea = k ? u->seen.d_aux + k * block : NULL;
    u->seen.aa = k ? u->seen.ea + k * block : NULL;
}

/* The model at the reference, of n rows whose predictors there are known. */
static void evaluate_reference(minibatch *u, size_t n, const double *y)
{
    const predictor *model = u->target->model->predictor;
    control *c = &u->seen;
    const batch b = {.k = u->target->k,
                     .n = n,
                     .eta = c->eta,
                     .y = y,
                     .aux = c->w + u->target->columns,
                     .pitch = u->block};
    model->gradient(&b, c->d_eta, c->d_aux);
    if (c->hessian) model->curvature(&b, c->ee, c->ea, c->aa);
}

recomputed_rows recompute_rows(minibatch *u, row_range r, const double *y)
{
    const rows *data = u->target->data;
    row_range there = r;
    if (!u->cv->at) return (recomputed_rows){u->cv, r, data->n};
    carve_control(u);
    const rows *x = minibatch_data(u, &there);
    rows_products(x, u->target->k, there, u->cv->at, NULL, u->seen.eta, NULL);
    for (size_t i = 0; data->offset && i < r.n; i++)
        u->seen.eta[i] += data->offset[row_index(r, i)];
    evaluate_reference(u, r.n, y);
    return (recomputed_rows){&u->seen, rows_from(0, r.n), u->block};
}

void recompute_base(minibatch *u, size_t n, slope_terms *s)
{
    carve_control(u);
    control *c = &u->seen;
    double *base = c->d_eta;
    memset(u->y, 0, n * sizeof *u->y);
    for (size_t i = 0; s->offset && i < n; i++) c->eta[i] += s->offset[i];
    evaluate_reference(u, n, u->y);
    for (size_t i = 0; i < n; i++)
        base[i] = -base[i] + (c->hessian ? c->ee[i] * c->eta[i] : 0.0);
    s->base = base;
    s->curvature = c->hessian ? c->ee : NULL;
}
