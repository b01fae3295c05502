/* Zero-inflated Poisson regression with the log link: y is 0 with probability zi (not counted),
 * else Poisson with mean mu = e^eta. With a = log zi/(1 - zi) as auxiliary, z = 1/(1 + e^-a) =
 * zi, and o = 1/(1 + e^(a + mu)), the probability that a zero was counted:
 *
 *   log p(0)      = log(1 + e^(a + mu)) - mu - log(1 + e^a)                            (1)
 *   d/d eta       = -mu o                  d/da         = 1 - o - z                    (2)
 *   d^2/d eta^2   = -mu o + mu^2 o (1 - o) d^2/d eta da = mu o (1 - o)                 (3)
 *   d^2/da^2      = o (1 - o) - z (1 - z)                                              (4)
 *   log p(y > 0)  = y eta - mu - log y! - log(1 + e^a)                                 (5)
 *
 * The derivatives of (5) are those of poisson.c and of -log(1 + e^a). Above eta = TOP the
 * exponential is continued along its tangent, as there. Not log-concave.
 *
 * Lambert (1992), Zero-inflated Poisson regression, Technometrics 34, 1-14. */
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

#define TOP   MEAN_EXP_TOP
#define CHUNK 64

/* Counts that are all 0 are refused: they identify neither zi nor the mean. */
static sbps_status zero_inflated_poisson_check(const rows *r, sbps_error *err)
{
    return targets_some_counts(r, "zero_inflated_poisson", err);
}

/* mu, and o as if y were 0, of at most CHUNK rows from `first` on. Returns their number. */
static size_t rates(const batch *b, size_t first, double *mu, double *counted)
{
    size_t n = b->n - first < CHUNK ? b->n - first : CHUNK;
    for (size_t i = 0; i < n; i++) mu[i] = smaller(b->eta[first + i], TOP);
    b->k->exp(n, mu, mu);
    for (size_t i = 0; i < n; i++) counted[i] = -b->aux[0] - mu[i];
    b->k->sigmoid(n, counted, counted);
    return n;
}

/* log(1 + e^x) without overflow. */
static double softplus(double x)
{
    return larger(x, 0.0) + log1p(exp(-fabs(x)));
}

/* zi */
static double inflation_probability(const batch *b)
{
    return 1.0 / (1.0 + exp(-b->aux[0]));
}

/* (1) without its last term; written so that a large a + mu does not overflow. */
static double log_zero(double a, double mu)
{
    return a + mu > 0.0 ? a + log1p(exp(-a - mu)) : log1p(exp(a + mu)) - mu;
}

/* (1) for y = 0, (5) for y > 0, with mu continued along its tangent. */
static void zero_inflated_poisson_loglik(const batch *b, double *out)
{
    double a = b->aux[0], never = softplus(a), mu[CHUNK], counted[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = rates(b, first, mu, counted);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i], eta = b->eta[first + i], above = larger(eta - TOP, 0.0);
            double full = mu[i] * (1.0 + above);
            out[first + i] =
                (y > 0.0 ? y * eta - full - log_gamma(y + 1.0) : log_zero(a, full)) - never;
        }
    }
}

/* (2), and for y > 0 the derivatives of (5). */
static void zero_inflated_poisson_gradient(const batch *b, double *d_eta, double *d_aux)
{
    double z = inflation_probability(b), mu[CHUNK], counted[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = rates(b, first, mu, counted);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i];
            d_eta[first + i] = y > 0.0 ? y - mu[i] : -mu[i] * counted[i];
            if (d_aux) d_aux[first + i] = y > 0.0 ? -z : 1.0 - counted[i] - z;
        }
    }
}

/* These times the rates of eta and a. */
static void zero_inflated_poisson_slope(const batch *b, double *out)
{
    double z = inflation_probability(b), rate = b->daux[0], mu[CHUNK], counted[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = rates(b, first, mu, counted);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i], zero = y > 0.0 ? 0.0 : 1.0 - counted[i];
            double by_eta = y > 0.0 ? y - mu[i] : -mu[i] * counted[i];
            out[first + i] = by_eta * b->deta[first + i] + (zero - z) * rate;
        }
    }
}

/* (3) and (4), and for y > 0 the second derivatives of (5). */
static void zero_inflated_poisson_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    double z = inflation_probability(b), mu[CHUNK], counted[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = rates(b, first, mu, counted);
        for (size_t i = 0; i < n; i++) {
            bool zero = b->y[first + i] == 0.0;
            double o = counted[i], unsure = zero ? o * (1.0 - o) : 0.0;
            ee[first + i] = zero ? -mu[i] * o + mu[i] * mu[i] * unsure : -mu[i];
            if (ea) ea[first + i] = mu[i] * unsure;
            if (aa) aa[first + i] = unsure - z * (1.0 - z);
        }
    }
}

/* 0 with probability zi, else a Poisson count. */
static double zero_inflated_poisson_simulate(rng *r, double eta, const double *aux)
{
    bool counted = rng_uniform(r) < 1.0 / (1.0 + exp(aux[0]));
    return counted ? draw_poisson(r, exp(smaller(eta, TOP))) : 0.0;
}

/* E y = (1 - zi) mu */
static double zero_inflated_poisson_expected(double eta, const double *aux)
{
    return exp(smaller(eta, TOP)) / (1.0 + exp(aux[0]));
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("zi"), .scale = SCALE_LOGIT, .start = 0.25, .prior = "flat",
     .help = "zero_inflated_poisson: prior of the probability that nothing is counted. auto: "
             "flat from 0 to 1."},
};

static const predictor family = {
    .check = zero_inflated_poisson_check,
    .loglik = zero_inflated_poisson_loglik,
    .slope = zero_inflated_poisson_slope,
    .gradient = zero_inflated_poisson_gradient,
    .curvature = zero_inflated_poisson_curvature,
    .simulate = zero_inflated_poisson_simulate,
    .cost = 3.0,
    .expected = zero_inflated_poisson_expected,
    .small_weights = true,
};

const model_kind model_zero_inflated_poisson = {
    .name = "zero_inflated_poisson",
    .summary = "Poisson regression of counts with more zeros than that: some are not counted "
               "at all.",
    .support = SUPPORT_COUNTS,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
