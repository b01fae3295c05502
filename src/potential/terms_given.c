/* Rows of a batch whose model is given w itself. The polynomial of a control variate is (1) of
 * terms_predictor.c; the model is asked again, at w_hat or at w_hat +- h delta: half the sum of those is the
 * gradient there and the difference over 2h the Hessian times delta, each to h^2. */
#include "potential/terms.h"

#define DIFFERENCE 1e-4 /* h; delta is itself on the scale of the posterior */

static size_t scratch(const posterior *target, size_t n)
{
    return target->model->scratch(target->self, n);
}

static void place(minibatch *u, double t)
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

/* (1), taken out of the slopes. */
static void leave_slopes(minibatch *u, row_range r, double t, double *out)
{
    const posterior *target = u->target;
    double h[2], factor[2];
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        target->model->slope(target->self, r, u->aside, u->q, u->scratch, u->aux);
        for (size_t i = 0; i < r.n; i++) out[i] -= factor[a] * u->aux[i];
    }
}

/* The same of the summed gradient; the row weights are in u->aux. */
static void leave_gradient(minibatch *u, row_range r, double t)
{
    const posterior *target = u->target;
    double h[2], factor[2], *each = u->out;
    size_t count = askings(u, h, factor);
    for (size_t a = 0; a < count; a++) {
        step_aside(u, t, h[a], u->aside);
        for (size_t i = 0; i < r.n; i++) each[i] = -factor[a] * u->aux[i];
        target->model->gradient(target->self, r, u->aside, each, u->scratch, u->total);
    }
}

static void gradient(minibatch *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    const model_kind *g = target->model;
    if (loglik) {
        g->loglik(target->self, r, u->point, u->scratch, u->out);
        *loglik += terms_sum(u, r);
    }
    for (size_t i = 0; i < r.n; i++) u->aux[i] = 1.0;
    terms_weigh(u, r, u->aux);
    g->gradient(target->self, r, u->point, u->aux, u->scratch, u->total);
    if (u->cv) leave_gradient(u, r, t);
}

static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    target->model->slope(target->self, r, u->point, u->q, u->scratch, u->out + at);
    if (u->cv) leave_slopes(u, r, t, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    const posterior *target = u->target;
    (void)t;
    target->model->loglik(target->self, r, u->point, u->scratch, u->out + at);
}

const row_terms terms_given = {
    .scratch = scratch,
    .place = place,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
};
