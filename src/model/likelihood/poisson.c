/* Poisson regression with the log link, y = 0, 1, 2, ..., mean mu = e^eta:
 *
 *   log p(y)      = y eta - mu - log y!                                        (1)
 *   d/d eta       = y - mu                                                     (2)
 *   d^2/d eta^2   = -mu                                                        (3)
 *
 * Above eta = TOP the exponential is continued along its tangent. There (1) is far below any
 * value that a sampler visits, and neither mu nor a sum of its squares overflows, so that no
 * inf * 0 arises.
 *
 * McCullagh, Nelder (1989), Generalized Linear Models, chapter 6. */
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

#define TOP MEAN_EXP_TOP

/* Counts only: (1) has no meaning for other y. */
static sbps_status poisson_check(const rows *r, sbps_error *err)
{
    return targets_counts(r, "poisson", err);
}

/* mu per row; above TOP the slope of the tangent. */
static void rates(const batch *b, double *mu)
{
    for (size_t i = 0; i < b->n; i++) mu[i] = b->eta[i] > TOP ? TOP : b->eta[i];
    b->k->exp(b->n, mu, mu);
}

/* (1), with mu continued along its tangent: e^TOP (1 + eta - TOP) above TOP. */
static void poisson_loglik(const batch *b, double *out)
{
    rates(b, out);
    for (size_t i = 0; i < b->n; i++) {
        double above = b->eta[i] > TOP ? b->eta[i] - TOP : 0.0;
        out[i] = b->y[i] * b->eta[i] - out[i] * (1.0 + above) - log_gamma(b->y[i] + 1.0);
    }
}

/* (2) times the rate of eta. */
static void poisson_slope(const batch *b, double *out)
{
    rates(b, out);
    for (size_t i = 0; i < b->n; i++) out[i] = (b->y[i] - out[i]) * b->deta[i];
}

/* (2) */
static void poisson_gradient(const batch *b, double *d_eta, double *d_aux)
{
    (void)d_aux;
    rates(b, d_eta);
    for (size_t i = 0; i < b->n; i++) d_eta[i] = b->y[i] - d_eta[i];
}

/* On the tangent (3) is kept rather than 0, so that Newton steps stay finite. */
static void poisson_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    (void)ea;
    (void)aa;
    rates(b, ee);
    for (size_t i = 0; i < b->n; i++) ee[i] = -ee[i];
}

/* A count with mean mu, which is limited to e^TOP. */
static double poisson_simulate(rng *r, double eta, const double *aux)
{
    (void)aux;
    double mu = exp(fmin(eta, TOP));
    return draw_poisson(r, mu);
}

/* All derivatives of order 2 and above are -e^eta. */
static double poisson_third(double eta)
{
    return -exp(eta);
}

/* e^eta grows with eta, so that the bound is its value at the upper end. */
static double poisson_third_bound(double eta, double reach)
{
    return exp(eta + reach);
}

/* E y = mu */
static double poisson_expected(double eta, const double *aux)
{
    (void)aux;
    return exp(fmin(eta, TOP));
}

static const predictor family = {
    .check = poisson_check,
    .loglik = poisson_loglik,
    .slope = poisson_slope,
    .gradient = poisson_gradient,
    .curvature = poisson_curvature,
    .simulate = poisson_simulate,
    .cost = 2.0,
    .expected = poisson_expected,
    .mean = MEAN_EXP,
    .small_weights = true,
    .third = poisson_third,
    .third_bound = poisson_third_bound,
};

const model_kind model_poisson = {
    .name = "poisson",
    .summary = "Poisson regression: y counts events, log rate linear in the columns.",
    .support = SUPPORT_COUNTS,
    .facts.log_concave = true,
    PREDICTOR_MODEL(family),
};
