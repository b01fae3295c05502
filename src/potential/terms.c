/* Rows of a batch. With delta = w - w_hat the polynomial taken out of a row's slope along u is
 *
 *   u.(g_i + H_i delta),   g_i, H_i gradient and Hessian of log p_i at w_hat                      (1)
 *
 * (H_i only in the second order). For a predictor model, e = x_i.delta and a the change of the
 * auxiliary, it needs a few numbers a row that are kept:
 *
 *   (l_e + l_ee e + l_ea a) d eta + (l_a + l_ea e + l_aa a) d aux.                               (2)
 *
 * A general model is asked again, at w_hat or at w_hat +- h delta: half the sum of those is the
 * gradient there and the difference over 2h the Hessian times delta, each to h^2. */
#include "potential/terms.h"

#include <math.h>
#include <string.h>

#define DIFFERENCE 1e-4 /* h; delta is itself on the scale of the posterior */

void terms_place(potential *u, double t)
{
    if (!u->target->model->general) return;
    for (size_t j = 0; j < u->target->dim; j++) u->point[j] = u->p[j] + t * u->q[j];
}

void terms_weigh(const potential *u, row_range r, double *values)
{
    const double *weight = u->target->data->weight;
    for (size_t i = 0; u->factor != 1.0 && i < r.n; i++) values[i] *= u->factor;
    for (size_t i = 0; weight && i < r.n; i++) values[i] *= weight[row_index(r, i)];
}

/* ---- predictor models ---- */

/* eta, deta and y of a range at time t into the scratch at `at`. */
static batch predict(potential *u, row_range r, double t, size_t at)
{
    const rows *data = u->target->data;
    double *eta = u->eta + at, *deta = u->deta + at, *y = u->y + at;
    const kernels *k = u->target->k;
    row_range there = r;
    const rows *x = potential_data(u, &there);
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

static double weighted_sum(potential *u, row_range r)
{
    double sums[2];
    terms_weigh(u, r, u->out);
    u->target->k->sum_squares(r.n, u->out, 0.0, sums);
    return sums[0];
}

static void predictor_gradient(potential *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    const rows *data = target->data;
    double *d_aux = target->model->aux_name ? u->aux : NULL;
    batch b = predict(u, r, t, 0);
    if (loglik) {
        target->model->loglik(&b, u->out);
        *loglik += weighted_sum(u, r);
    }
    target->model->gradient(&b, u->out, d_aux);
    if (u->cv) leave_gradients(u->cv, r, &b, u->out, d_aux);
    terms_weigh(u, r, u->out);
    row_range there = r;
    const rows *x = potential_data(u, &there);
    rows_combine(x, target->k, there, u->out, u->total);
    if (!d_aux) return;
    terms_weigh(u, r, d_aux);
    for (size_t i = 0; i < r.n; i++) u->total[data->stride] += d_aux[i];
}

/* ---- general models ---- */

/* w_hat + h delta at time t into `out`. */
static void step_aside(const potential *u, double t, double h, double *out)
{
    for (size_t j = 0; j < u->target->dim; j++)
        out[j] = u->cv->w[j] + h * (u->taylor.p[j] + t * u->taylor.q[j]);
}

/* Points at which a general model is asked for (1), and how much each counts. */
static size_t askings(const potential *u, double h[2], double factor[2])
{
    const double side[2] = {-DIFFERENCE, DIFFERENCE};
    h[0] = 0.0;
    factor[0] = 1.0;
    if (!u->cv->hessian) return 1;
    for (size_t i = 0; i < 2; i++) {
        h[i] = side[i];
        factor[i] = 0.5 + 0.5 / side[i];
    }
    return 2;
}

/* (1), taken out of the slopes. */
static void leave_general_slopes(potential *u, row_range r, double t, double *out)
{
    const posterior *target = u->target;
    double h[2], factor[2];
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        target->model->general->slope(target->self, r, u->aside, u->q, u->scratch, u->aux);
        for (size_t i = 0; i < r.n; i++) out[i] -= factor[a] * u->aux[i];
    }
}

/* The same of the summed gradient; the row weights are in u->aux. */
static void leave_general_gradient(potential *u, row_range r, double t)
{
    const posterior *target = u->target;
    double h[2], factor[2], *each = u->out;
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        for (size_t i = 0; i < r.n; i++) each[i] = -factor[a] * u->aux[i];
        target->model->general->gradient(target->self, r, u->aside, each, u->scratch, u->total);
    }
}

static void general_gradient_of(potential *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    const general_model *g = target->model->general;
    if (loglik) {
        g->loglik(target->self, r, u->point, u->scratch, u->out);
        *loglik += weighted_sum(u, r);
    }
    for (size_t i = 0; i < r.n; i++) u->aux[i] = 1.0;
    terms_weigh(u, r, u->aux);
    g->gradient(target->self, r, u->point, u->aux, u->scratch, u->total);
    if (u->cv) leave_general_gradient(u, r, t);
}

/* ---- either ---- */

void terms_slopes(potential *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    double *out = u->out + at;
    if (target->model->general) {
        const general_model *g = target->model->general;
        g->slope(target->self, r, u->point, u->q, u->scratch, out);
        if (u->cv) leave_general_slopes(u, r, t, out);
        return;
    }
    batch b = predict(u, r, t, at);
    target->model->slope(&b, out);
    if (u->cv) leave_slopes(u->cv, r, &b, out);
}

void terms_logliks(potential *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    if (target->model->general) {
        target->model->general->loglik(target->self, r, u->point, u->scratch, u->out + at);
        return;
    }
    batch b = predict(u, r, t, at);
    target->model->loglik(&b, u->out + at);
}

void terms_gradient(potential *u, row_range r, double t, double *loglik)
{
    if (u->target->model->general)
        general_gradient_of(u, r, t, loglik);
    else
        predictor_gradient(u, r, t, loglik);
}
