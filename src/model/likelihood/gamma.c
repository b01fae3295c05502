/* Gamma regression with the log link: y > 0 with mean mu = e^eta and variance mu^2/alpha, alpha
 * the shape. With a = log alpha as auxiliary, t = log y - eta, and m = e^t - 1 - t, which is 0
 * at y = mu:
 *
 *   log p(y)      = alpha a - log Gamma(alpha) - log y - alpha (1 + m)                     (1)
 *   d/d eta       = alpha (e^t - 1)       d/da        = gap(alpha) - alpha m               (2)
 *   d^2/d eta^2   = -alpha e^t            d^2/d eta da = alpha (e^t - 1)                   (3)
 *   d^2/da^2      = gap(alpha) + tri(alpha) - alpha m                                      (4)
 *
 * gap is gamma_gap and tri trigamma_gap of linalg/special_functions.h. Above t = TOP the
 * exponential is continued along its tangent, as in poisson.c.
 *
 * McCullagh, Nelder (1989), Generalized Linear Models, chapter 8. */
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include "linalg/special_functions.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <float.h>
#include <math.h>

#define TOP MEAN_EXP_TOP

/* log y enters (1), so that y = 0 is refused. */
static sbps_status gamma_check(const rows *r, sbps_error *err)
{
    return targets_between(r, "gamma", 0.0, INFINITY, "numbers above 0", err);
}

/* Returns e^t - 1 of row i; *m = m. */
static double excess(const batch *b, size_t i, double *m)
{
    double t = log(b->y[i]) - b->eta[i], above = larger(t - TOP, 0.0);
    double e = expm1(t - above);
    *m = e - t + (above > 0.0 ? above * (e + 1.0) : 0.0);
    return e;
}

/* (1), with log Gamma(alpha) by Stirling's formula, whose large terms cancel. */
static void gamma_loglik(const batch *b, double *out)
{
    double alpha = exp(b->aux[0]), m;
    double constant = 0.5 * (b->aux[0] - log(2.0 * M_PI)) - gamma_rest(alpha);
    for (size_t i = 0; i < b->n; i++) {
        excess(b, i, &m);
        out[i] = constant - log(b->y[i]) - alpha * m;
    }
}

/* (2) */
static void gamma_gradient(const batch *b, double *d_eta, double *d_aux)
{
    double alpha = exp(b->aux[0]), gap = d_aux ? gamma_gap(alpha) : 0.0, m;
    for (size_t i = 0; i < b->n; i++) {
        d_eta[i] = alpha * excess(b, i, &m);
        if (d_aux) d_aux[i] = gap - alpha * m;
    }
}

/* (2) times the rates of eta and a. */
static void gamma_slope(const batch *b, double *out)
{
    double alpha = exp(b->aux[0]), gap = gamma_gap(alpha), rate = b->daux[0], m;
    for (size_t i = 0; i < b->n; i++) {
        double by_eta = alpha * excess(b, i, &m);
        out[i] = by_eta * b->deta[i] + (gap - alpha * m) * rate;
    }
}

/* (3) and (4). */
static void gamma_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    double alpha = exp(b->aux[0]), own = gamma_gap(alpha) + trigamma_gap(alpha), m;
    for (size_t i = 0; i < b->n; i++) {
        double e = excess(b, i, &m);
        ee[i] = -alpha * (e + 1.0);
        if (ea) ea[i] = alpha * e;
        if (aa) aa[i] = own - alpha * m;
    }
}

/* y = mu g/alpha with g a gamma variate of shape alpha, computed as a logarithm: g underflows
 * for small alpha, and y must not be 0. */
static double gamma_simulate(rng *r, double eta, const double *aux)
{
    double log_y = eta + draw_log_gamma(r, exp(aux[0])) - aux[0];
    return larger(exp(smaller(log_y, TOP)), DBL_MIN);
}

/* E y = mu */
static double gamma_expected(double eta, const double *aux)
{
    (void)aux;
    return exp(smaller(eta, TOP));
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("shape"), .scale = SCALE_LOG, .start = 2.0, .prior = "gamma(0.01,0.01)",
     .perfect_fit = -2.0,
     .help = "gamma: prior of the shape, 1/(squared coefficient of variation). auto: "
             "gamma(0.01,0.01)."},
};

static const predictor family = {
    .check = gamma_check,
    .loglik = gamma_loglik,
    .slope = gamma_slope,
    .gradient = gamma_gradient,
    .curvature = gamma_curvature,
    .simulate = gamma_simulate,
    .cost = 4.0,
    .expected = gamma_expected,
    .small_weights = true,
};

const model_kind model_gamma = {
    .name = "gamma",
    .summary = "Gamma regression: y > 0, spread in proportion to the mean, log mean linear.",
    .support = SUPPORT_POSITIVE,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
