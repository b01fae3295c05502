/* Rows of a batch whose model is evaluated at w itself. The polynomial of a control variate
 * is (1) of terms_predictor.c. It is stored per row, or the model is evaluated at w_hat or
 * at w_hat +- h delta: half the sum of those is the gradient there, and the difference over
 * 2h the Hessian times delta, each to order h^2. */
#include "linalg/dense_matrix.h"
#include "posterior/minibatch/row_terms.h"

#define DIFFERENCE 1e-4 /* h; delta itself is on the scale of the posterior */

static size_t scratch(const posterior *target, size_t n)
{
    return target->model->rows.scratch(target->self, n);
}

static void set_evaluation_point(minibatch *u, double t)
{
    for (size_t j = 0; j < u->target->dim; j++) u->point[j] = u->p[j] + t * u->q[j];
}

/* out = w_hat + h delta at time t. */
static void set_offset_point(const minibatch *u, double t, double h, double *out)
{
    for (size_t j = 0; j < u->target->dim; j++)
        out[j] = u->cv->w[j] + h * (u->taylor.p[j] + t * u->taylor.q[j]);
}

/* Points w_hat + h delta at which the model is evaluated for (1), with their factors;
 * returns their number. */
static size_t evaluation_points(const minibatch *u, double h[2], double factor[2])
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

/* ---- control variates with stored derivatives of every row ---- */

/* w - w_hat at time t, for second order. */
static const double *set_delta(minibatch *u, double t)
{
    for (size_t j = 0; j < u->target->dim; j++)
        u->aside[j] = u->taylor.p[j] + t * u->taylor.q[j];
    return u->aside;
}

/* (1) of one row along q, from its stored derivatives. */
static double stored_slope(const minibatch *u, const double *row, const double *delta)
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

static void subtract_stored_slopes(minibatch *u, row_range r, double t, double *out)
{
    const double *delta = u->cv->hessian ? set_delta(u, t) : NULL;
    for (size_t i = 0; i < r.n; i++)
        out[i] -= stored_slope(u, u->cv->each + row_index(r, i) * u->cv->each_size, delta);
}

/* Subtracts (1) from the summed gradient; the row weights are in u->aux. */
static void subtract_stored_gradient(minibatch *u, row_range r, double t)
{
    size_t d = u->target->dim;
    const double *delta = u->cv->hessian ? set_delta(u, t) : NULL;
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

/* ---- control variates that evaluate the model again ---- */

/* Subtracts (1) from the slopes. */
static void subtract_slopes(minibatch *u, row_range r, double t, double *out)
{
    const posterior *target = u->target;
    if (u->cv->each) {
        subtract_stored_slopes(u, r, t, out);
        return;
    }
    double h[2], factor[2];
    size_t count = evaluation_points(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        set_offset_point(u, t, h[a], u->aside);
        target->model->rows.slope(target->self, r, u->aside, u->q, u->scratch, u->aux);
        for (size_t i = 0; i < r.n; i++) out[i] -= factor[a] * u->aux[i];
    }
}

/* Subtracts (1) from the summed gradient; the row weights are in u->aux. */
static void subtract_gradient(minibatch *u, row_range r, double t)
{
    const posterior *target = u->target;
    if (u->cv->each) {
        subtract_stored_gradient(u, r, t);
        return;
    }
    double h[2], factor[2], *each = u->out;
    size_t count = evaluation_points(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        set_offset_point(u, t, h[a], u->aside);
        for (size_t i = 0; i < r.n; i++) each[i] = -factor[a] * u->aux[i];
        target->model->rows.gradient(target->self, r, u->aside, each, u->scratch, u->total);
    }
}

/* row_terms.gradient: the model's gradient at u->point, less the control variate's
 * polynomial. */
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
    if (u->cv) subtract_gradient(u, r, t);
}

static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    target->model->rows.slope(target->self, r, u->point, u->q, u->scratch, u->out + at);
    if (u->cv) subtract_slopes(u, r, t, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    (void)t;
    target->model->rows.loglik(target->self, r, u->point, u->scratch, u->out + at);
}

const row_terms terms_pointwise = {
    .scratch = scratch,
    .prepare = set_evaluation_point,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
};
