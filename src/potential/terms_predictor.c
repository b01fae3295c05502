/* Rows of a batch whose model is a predictor's. With delta = w - w_hat the polynomial taken out of a
 * row's slope along u is
 *
 *   u.(g_i + H_i delta),   g_i, H_i gradient and Hessian of log p_i at w_hat                      (1)
 *
 * (H_i only in the second order). With e = x_i.delta and a the change of the auxiliary it needs a few
 * numbers a row that are kept:
 *
 *   (l_e + l_ee e + l_ea a) d eta + (l_a + l_ea e + l_aa a) d aux.                               (2) */
#include "potential/terms.h"

#include <string.h>

static size_t no_scratch(const posterior *target, size_t n)
{
    (void)target;
    (void)n;
    return 0;
}

static void no_place(minibatch *u, double t)
{
    (void)u;
    (void)t;
}

/* eta, deta and y of a range at time t into the scratch at `at`. */
static batch predict(minibatch *u, row_range r, double t, size_t at)
{
    const rows *data = u->target->data;
    double *eta = u->eta + at, *deta = u->deta + at, *y = u->y + at;
    const kernels *k = u->target->k;
    row_range there = r;
    const rows *x = minibatch_data(u, &there);
    rows_products(x, k, there, u->p, u->state->still ? NULL : u->q, eta, deta);
    if (u->state->still) memset(deta, 0, r.n * sizeof *deta);
    if (t != 0.0) k->axpy(r.n, t, deta, eta);
    if (r.list)
        for (size_t i = 0; i < r.n; i++) y[i] = data->y[r.list[i]];
    else
        memcpy(y, data->y + r.first, r.n * sizeof *y);
    if (data->offset)
        for (size_t i = 0; i < r.n; i++) eta[i] += data->offset[row_index(r, i)];
    size_t stride = data->stride;
    return (batch){.k = k,
                   .n = r.n,
                   .eta = eta,
                   .deta = deta,
                   .y = y,
                   .aux = u->p[stride] + t * u->q[stride],
                   .daux = u->q[stride]};
}

/* (2), taken out of the slopes. */
static void leave_slopes(const control *cv, row_range r, const batch *b, double *out)
{
    double da = cv->d_aux ? b->aux - cv->aux : 0.0;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_eta[row];
        if (cv->hessian) along += cv->ee[row] * (b->eta[i] - cv->eta[row]);
        out[i] -= along * b->deta[i];
    }
    for (size_t i = 0; cv->d_aux && i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_aux[row];
        if (cv->hessian) {
            out[i] -= cv->ea[row] * da * b->deta[i];
            along += cv->ea[row] * (b->eta[i] - cv->eta[row]) + cv->aa[row] * da;
        }
        out[i] -= along * b->daux;
    }
}

/* The same of the gradients d log p/d eta and, unless NULL, d log p/d aux. */
static void leave_gradients(const control *cv, row_range r, const batch *b, double *d_eta,
                            double *d_aux)
{
    double da = cv->d_aux ? b->aux - cv->aux : 0.0;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        d_eta[i] -= cv->d_eta[row];
        if (d_aux) d_aux[i] -= cv->d_aux[row];
        if (!cv->hessian) continue;
        double e = b->eta[i] - cv->eta[row];
        d_eta[i] -= cv->ee[row] * e;
        if (!d_aux) continue;
        d_eta[i] -= cv->ea[row] * da;
        d_aux[i] -= cv->ea[row] * e + cv->aa[row] * da;
    }
}

static void gradient(minibatch *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    const rows *data = target->data;
    double *d_aux = target->model->auxiliary ? u->aux : NULL;
    batch b = predict(u, r, t, 0);
    if (loglik) {
        target->model->predictor->loglik(&b, u->out);
        *loglik += terms_sum(u, r);
    }
    target->model->predictor->gradient(&b, u->out, d_aux);
    if (u->cv) leave_gradients(u->cv, r, &b, u->out, d_aux);
    terms_weigh(u, r, u->out);
    row_range there = r;
    const rows *x = minibatch_data(u, &there);
    rows_combine(x, target->k, there, u->out, u->total);
    if (!d_aux) return;
    terms_weigh(u, r, d_aux);
    for (size_t i = 0; i < r.n; i++) u->total[data->stride] += d_aux[i];
}

static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    batch b = predict(u, r, t, at);
    u->target->model->predictor->slope(&b, u->out + at);
    if (u->cv) leave_slopes(u->cv, r, &b, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    batch b = predict(u, r, t, at);
    u->target->model->predictor->loglik(&b, u->out + at);
}

const row_terms terms_predictor = {
    .scratch = no_scratch,
    .place = no_place,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
    .by_products = true,
};
