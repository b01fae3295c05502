/* What both forms of model share; rows that are evaluated again at every use. */
#include "posterior/minibatch/row_terms.h"

#include "linalg/dense_matrix.h"

#include <string.h>

const row_terms *terms_of(const posterior *target)
{
    return target->model->predictor ? &terms_predictor : &terms_pointwise;
}

void terms_weigh(const minibatch *u, row_range r, double *values)
{
    const double *weight = u->target->data->weight;
    for (size_t i = 0; u->factor != 1.0 && i < r.n; i++) values[i] *= u->factor;
    for (size_t i = 0; weight && i < r.n; i++) values[i] *= weight[row_index(r, i)];
}

double terms_sum(minibatch *u, row_range r)
{
    double sums[2];
    terms_weigh(u, r, u->out);
    u->target->k->sum_squares(r.n, u->out, 0.0, sums);
    return sums[0];
}

void minibatch_add_squares(minibatch *u, double factor, double *squares)
{
    size_t n = u->target->data->local_rows;
    u->state->residuals_kept = u->state->line_reversed = false;
    u->terms->prepare(u, 0.0);
    for (size_t first = 0; first < n; first += MINIBATCH_BLOCK) {
        size_t take = n - first < MINIBATCH_BLOCK ? n - first : MINIBATCH_BLOCK;
        row_range r = rows_from(first, take);
        u->terms->slopes(u, r, 0.0, 0);
        terms_weigh(u, r, u->out);
        for (size_t i = 0; i < take; i++) squares[first + i] += factor * u->out[i] * u->out[i];
    }
}

/* ---- rows that are evaluated again ----
 *
 * With e_hat the predictor at the reference, base = y - l_e + l_ee e_hat. Where l_e = y -
 * mean(eta) the target cancels: base = mean(e_hat) + l_ee e_hat. */

/* Arrays: eta, d_eta and ee; d_aux and ea per auxiliary; aa per pair. */
size_t recompute_blocks(const posterior *target)
{
    size_t k = target->auxiliaries;
    return target->data->recompute_rows && target->model->predictor ? 3 + 2 * k + packed_size(k)
                                                                    : 0;
}

/* Points u->recomputed_control to its arrays in the scratch. */
static void carve_control(minibatch *u)
{
    size_t k = u->target->auxiliaries, block = u->block;
    double *at = u->recomputed;
    u->recomputed_control =
        (control){.w = u->cv->w, .hessian = u->cv->hessian, .at = u->cv->at};
    u->recomputed_control.eta = at;
    u->recomputed_control.d_eta = at + block;
    u->recomputed_control.ee = at + 2 * block;
    u->recomputed_control.d_aux = k ? at + 3 * block : NULL;
    u->recomputed_control.ea = k ? u->recomputed_control.d_aux + k * block : NULL;
    u->recomputed_control.aa = k ? u->recomputed_control.ea + k * block : NULL;
}

/* Evaluates the model at the reference, for n rows whose predictors there are known. */
static void evaluate_reference(minibatch *u, size_t n, const double *y)
{
    const predictor *model = u->target->model->predictor;
    control *c = &u->recomputed_control;
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
    row_range position = r;
    if (!u->cv->at) return (recomputed_rows){u->cv, r, data->local_rows};
    carve_control(u);
    const rows *x = minibatch_data(u, &position);
    rows_products(x, u->target->k, position, u->cv->at, NULL, u->recomputed_control.eta, NULL);
    for (size_t i = 0; data->offset && i < r.n; i++)
        u->recomputed_control.eta[i] += data->offset[row_index(r, i)];
    evaluate_reference(u, r.n, y);
    return (recomputed_rows){&u->recomputed_control, rows_from(0, r.n), u->block};
}

void recompute_base(minibatch *u, size_t n, slope_terms *s)
{
    carve_control(u);
    control *c = &u->recomputed_control;
    double *base = c->d_eta;
    memset(u->y, 0, n * sizeof *u->y);
    for (size_t i = 0; s->offset && i < n; i++) c->eta[i] += s->offset[i];
    evaluate_reference(u, n, u->y);
    for (size_t i = 0; i < n; i++)
        base[i] = -base[i] + (c->hessian ? c->ee[i] * c->eta[i] : 0.0);
    s->base = base;
    s->curvature = c->hessian ? c->ee : NULL;
}
