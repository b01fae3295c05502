/* Linear regression, y ~ N(eta, sigma^2), with a = log sigma as auxiliary. With r = y - eta and
 * tau = e^-2a:
 *
 *   log p(y)        = -log(2 pi)/2 - a - r^2 tau/2                      (1)
 *   d/d eta         = r tau              d/da         = r^2 tau - 1     (2)
 *   d^2/d eta^2     = -tau               d^2/d eta da = -2 r tau        (3)
 *   d^2/da^2        = -2 r^2 tau                                        (4)
 *
 * The coordinate is log sigma, so that a path segment cannot leave sigma > 0. */
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

/* Targets that are all the same are refused: sigma would go to 0. */
static sbps_status linear_check(const rows *r, sbps_error *err)
{
    return targets_real(r, "linear", err);
}

/* (1) */
static void linear_loglik(const batch *b, double *out)
{
    double tau = exp(-2.0 * b->aux[0]), constant = -0.5 * log(2.0 * M_PI) - b->aux[0];
    for (size_t i = 0; i < b->n; i++) {
        double r = b->y[i] - b->eta[i];
        out[i] = constant - 0.5 * r * r * tau;
    }
}

/* (2) times the rates of eta and a. */
static void linear_slope(const batch *b, double *out)
{
    double tau = exp(-2.0 * b->aux[0]), rate = b->daux[0];
    for (size_t i = 0; i < b->n; i++) {
        double r = b->y[i] - b->eta[i], r_tau = r * tau;
        out[i] = r_tau * b->deta[i] + (r * r_tau - 1.0) * rate;
    }
}

/* (2) */
static void linear_gradient(const batch *b, double *d_eta, double *d_aux)
{
    double tau = exp(-2.0 * b->aux[0]);
    for (size_t i = 0; i < b->n; i++) {
        double r = b->y[i] - b->eta[i];
        d_eta[i] = r * tau;
        if (d_aux) d_aux[i] = r * r * tau - 1.0;
    }
}

/* (3) and (4) */
static void linear_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    double tau = exp(-2.0 * b->aux[0]);
    for (size_t i = 0; i < b->n; i++) {
        double r = b->y[i] - b->eta[i];
        ee[i] = -tau;
        if (ea) ea[i] = -2.0 * r * tau;
        if (aa) aa[i] = -2.0 * r * r * tau;
    }
}

/* y = eta + sigma times a standard normal number. */
static double linear_simulate(rng *r, double eta, const double *aux)
{
    return eta + exp(aux[0]) * rng_normal(r);
}

/* E y = eta */
static double linear_expected(double eta, const double *aux)
{
    (void)aux;
    return eta;
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("sigma"), .scale = SCALE_LOG, .of_target = true, .start = 1.0,
     .prior = "exponential(1)", .perfect_fit = 1.0, .help = SIGMA_HELP},
};

static const predictor family = {
    .check = linear_check,
    .loglik = linear_loglik,
    .slope = linear_slope,
    .gradient = linear_gradient,
    .curvature = linear_curvature,
    .simulate = linear_simulate,
    .expected = linear_expected,
};

const model_kind model_linear = {
    .name = "linear",
    .summary = "Linear regression: y is normal around a line in the columns, sd sigma unknown.",
    .support = SUPPORT_REAL,
    .facts.scales_with_target = true,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
