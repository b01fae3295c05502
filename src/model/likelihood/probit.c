/* Probit regression: the probability of success is Phi(eta), the standard normal distribution
 * function. A row is one trial or, as in logistic.c, the proportion y of as many trials as its
 * weight:
 *
 *   log p(y)      = y log Phi(eta) + (1 - y) log Phi(-eta)                       (1)
 *   d/dx log Phi  = h(x) = phi(x) / Phi(x)                                       (2)
 *   d^2/dx^2      = -h(x) (x + h(x)), between -1 and 0                           (3)
 *
 * For large negative x the sum x + h(x) cancels; there Laplace's continued fraction is used:
 *
 *   x + h(x) = 1/(z + 2/(z + 3/(z + ...))),  z = -x                              (4)
 *
 * McCullagh, Nelder (1989), Generalized Linear Models, chapter 4; Abramowitz, Stegun (1964),
 * 26.2.14. */
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

#define FAR       8.0 /* (4) is used where x < -FAR */
#define FRACTIONS 40  /* terms of (4): enough for 1e-15 at FAR */

/* 0, 1, or proportions between them; all successes or all failures are refused. */
static sbps_status probit_check(const rows *r, sbps_error *err)
{
    return targets_proportions(r, "probit", err);
}

/* Returns h(x) of (2); *excess = x + h(x). */
static double hazard(double x, double *excess)
{
    if (x < -FAR) {
        double below = -x;
        for (int k = FRACTIONS; k >= 2; k--) below = -x + k / below; /* (4) */
        *excess = 1.0 / below;
        return *excess - x;
    }
    double h = exp(-0.5 * x * x) * sqrt(2.0 / M_PI) / erfc(-x * M_SQRT1_2);
    *excess = x + h;
    return h;
}

/* log Phi(x) */
static double log_normal(double x)
{
    double excess;
    if (x > 0.0) return log1p(-0.5 * erfc(x * M_SQRT1_2));
    if (x > -FAR) return log(0.5 * erfc(-x * M_SQRT1_2));
    return -0.5 * x * x - 0.5 * log(2.0 * M_PI) - log(hazard(x, &excess));
}

/* (1). An outcome without weight is left out, since 0 log 0 is not a number. */
static void probit_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) {
        double y = b->y[i];
        out[i] = 0.0;
        if (y > 0.0) out[i] += y * log_normal(b->eta[i]);
        if (y < 1.0) out[i] += (1.0 - y) * log_normal(-b->eta[i]);
    }
}

/* (2) at eta for successes, at -eta for failures. */
static void probit_gradient(const batch *b, double *d_eta, double *d_aux)
{
    (void)d_aux;
    double excess;
    for (size_t i = 0; i < b->n; i++) {
        double y = b->y[i];
        d_eta[i] = 0.0;
        if (y > 0.0) d_eta[i] += y * hazard(b->eta[i], &excess);
        if (y < 1.0) d_eta[i] -= (1.0 - y) * hazard(-b->eta[i], &excess);
    }
}

/* The gradient times the rate of eta. */
static void probit_slope(const batch *b, double *out)
{
    probit_gradient(b, out, NULL);
    for (size_t i = 0; i < b->n; i++) out[i] *= b->deta[i];
}

/* (3) likewise. */
static void probit_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    (void)ea;
    (void)aa;
    double excess, h;
    for (size_t i = 0; i < b->n; i++) {
        double y = b->y[i];
        ee[i] = 0.0;
        if (y > 0.0) h = hazard(b->eta[i], &excess), ee[i] -= y * h * excess;
        if (y < 1.0) h = hazard(-b->eta[i], &excess), ee[i] -= (1.0 - y) * h * excess;
    }
}

/* A success if a standard normal number lies below eta. */
static double probit_simulate(rng *r, double eta, const double *aux)
{
    (void)aux;
    return rng_normal(r) < eta ? 1.0 : 0.0;
}

/* Phi(eta) */
static double probit_expected(double eta, const double *aux)
{
    (void)aux;
    return 0.5 * erfc(-eta * M_SQRT1_2);
}

static const predictor family = {
    .check = probit_check,
    .loglik = probit_loglik,
    .slope = probit_slope,
    .gradient = probit_gradient,
    .curvature = probit_curvature,
    .simulate = probit_simulate,
    .cost = 4.0,
    .expected = probit_expected,
};

const model_kind model_probit = {
    .name = "probit",
    .summary = "Probit regression: a success where a normal error lies below a line in the "
               "columns.",
    .support = SUPPORT_PROPORTIONS,
    .facts.log_concave = true,
    PREDICTOR_MODEL(family),
};
