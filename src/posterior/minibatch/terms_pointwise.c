/* Rows of a batch whose model is given w itself. The polynomial of a control variate is (1) of
 * terms_predictor.c; the model is asked again, at w_hat or at w_hat +- h delta: half the sum of those is the
 * gradient there and the difference over 2h the Hessian times delta, each to h^2. */
#include "linalg/dense_matrix.h"
#include "posterior/minibatch/row_terms.h"

#define DIFFERENCE 1e-4 /* h; delta is itself on the scale of the posterior */

static size_t scratch(const posterior *target, size_t n)
{
    return target->model->rows.scratch(target->self, n);
}

static void set_evaluation_point(minibatch *u, double t)
{
    for (size_t j = 0; j < u->target->dim; j++) u->point[j] = u->p[j] + t * u->q[j];
}

/* w_hat + h delta at time t into `out`. */
static void step_aside(const minibatch *u, double t, double h, double *out)
{
    for (size_t j = 0; j < u->target->dim; j++)
        out[j] = u->cv->w[j] + h * (u->taylor.p[j] + t * u->taylor.q[j]);
}

/* Points at which the model is asked for (1), and how much each counts. */
static size_t askings(const minibatch *u, double h[2], double factor[2])
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

/* ---- where every row's derivatives are kept ---- */

/* w - w_hat at time t, for the second order. */
static const double *away(minibatch *u, double t)
{
    for (size_t j = 0; j < u->target->dim; j++)
        u->aside[j] = u->taylor.p[j] + t * u->taylor.q[j];
    return u->aside;
}

/* (1) of one row along q. */
static double kept_slope(const minibatch *u, const double *row, const double *delta)
{
    size_t d = u->target->dim;
    const double *q = u->q, *h = row + d;
    double slope = dot(d, row, q);
    for (size_t a = 0; a < d && u->cv->hessian; h += ++a) {
        for (size_t b = 0; b < a; b++) slope += h[b] * (q[a] * delta[b] + q[b] * delta[a]);
        slope += h[a] * q[a] * delta[a];
    }
    return slope;
}

static void leave_kept_slopes(minibatch *u, row_range r, double t, double *out)
{
    const double *delta = u->cv->hessian ? away(u, t) : NULL;
    for (size_t i = 0; i < r.n; i++)
        out[i] -= kept_slope(u, u->cv->each + row_index(r, i) * u->cv->each_size, delta);
}

/* The same of the summed gradient; the row weights are in u->aux. */
static void leave_kept_gradient(minibatch *u, row_range r, double t)
{
    size_t d = u->target->dim;
    const double *delta = u->cv->hessian ? away(u, t) : NULL;
    for (size_t i = 0; i < r.n; i++) {
        const double *row = u->cv->each + row_index(r, i) * u->cv->each_size, *h = row + d;
        add_scaled(d, -u->aux[i], row, u->total);
        for (size_t a = 0; a < d && delta; h += ++a)
            for (size_t b = 0; b <= a; b++) {
                u->total[a] -= u->aux[i] * h[b] * delta[b];
                if (b < a) u->total[b] -= u->aux[i] * h[b] * delta[a];
            }
    }
}

/* ---- where the model is asked again ---- */

/* (1), taken out of the slopes. */
static void leave_slopes(minibatch *u, row_range r, double t, double *out)
{
    const posterior *target = u->target;
    if (u->cv->each) {
        leave_kept_slopes(u, r, t, out);
        return;
    }
    double h[2], factor[2];
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        target->model->rows.slope(target->self, r, u->aside, u->q, u->scratch, u->aux);
        for (size_t i = 0; i < r.n; i++) out[i] -= factor[a] * u->aux[i];
    }
}

/* The same of the summed gradient; the row weights are in u->aux. */
static void leave_gradient(minibatch *u, row_range r, double t)
{
    const posterior *target = u->target;
    if (u->cv->each) {
        leave_kept_gradient(u, r, t);
        return;
    }
    double h[2], factor[2], *each = u->out;
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        for (size_t i = 0; i < r.n; i++) each[i] = -factor[a] * u->aux[i];
        target->model->rows.gradient(target->self, r, u->aside, each, u->scratch, u->total);
    }
}

static void gradient(minibatch *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    const model_kind *g = target->model;
    if (loglik) {
        g->rows.loglik(target->self, r, u->point, u->scratch, u->out);
        *loglik += terms_sum(u, r);
    }
    for (size_t i = 0; i < r.n; i++) u->aux[i] = 1.0;
    terms_weigh(u, r, u->aux);
    g->rows.gradient(target->self, r, u->point, u->aux, u->scratch, u->total);
    if (u->cv) leave_gradient(u, r, t);
}

static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    target->model->rows.slope(target->self, r, u->point, u->q, u->scratch, u->out + at);
    if (u->cv) leave_slopes(u, r, t, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    (void)t;
    target->model->rows.loglik(target->self, r, u->point, u->scratch, u->out + at);
}

const row_terms terms_pointwise = {
    .scratch = scratch,
    .place = set_evaluation_point,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
};
