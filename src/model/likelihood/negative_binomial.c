/* Negative binomial regression with the log link: counts with mean mu = e^eta and variance mu +
 * mu^2/phi. With a = log phi as auxiliary, s = eta - a, p = 1/(1 + e^-s) = mu/(phi + mu) and t
 * = y + phi:
 *
 *   log p(y)      = log Gamma(t)/(Gamma(phi) y!) - y a + y eta - t log(1 + e^s)           (1)
 *   d/d eta       = y - t p               d/da        = R - y - phi log(1 + e^s) + t p    (2)
 *   d^2/d eta^2   = -t p (1 - p)          d^2/d eta da = t p (1 - p) - phi p              (3)
 *   d^2/da^2      = R' - phi log(1 + e^s) + 2 phi p - t p (1 - p)                         (4)
 *   R  = phi (psi(t) - psi(phi)) = phi log(t/phi) - phi/t gap(t) + gap(phi)               (5)
 *   R' = R - phi y/t - (phi/t)^2 tri(t) + tri(phi)                                        (6)
 *
 * psi is the digamma function, gap is gamma_gap and tri trigamma_gap of
 * linalg/special_functions.h: no term of (2) and (4) grows with phi, whose limit at infinity is
 * the Poisson model.
 *
 * Hilbe (2011), Negative Binomial Regression, 2nd edition, chapter 8 (NB2). */
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include "linalg/special_functions.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

#define CHUNK 64
#define TOP   MEAN_EXP_TOP /* log of the largest mean that is drawn */

/* Counts that are all 0 are refused: they do not identify phi. */
static sbps_status negative_binomial_check(const rows *r, sbps_error *err)
{
    return targets_some_counts(r, "negative_binomial", err);
}

/* Numbers that depend on phi only, computed once for all rows. */
typedef struct {
    double log_phi, phi, gap, trigamma_term, rest;
} phi_terms;

/* Three special functions of phi: too expensive to be computed for every row. */
static phi_terms terms_at(const batch *b)
{
    double phi = exp(b->aux[0]);
    return (phi_terms){b->aux[0], phi, gamma_gap(phi), trigamma_gap(phi), gamma_rest(phi)};
}

/* log(1 + e^s), unless log_one is NULL, and p of at most CHUNK rows from `first` on. Returns
 * their number. */
static size_t odds(const batch *b, const phi_terms *of, size_t first, double *log_one,
                   double *p)
{
    double s[CHUNK];
    size_t n = b->n - first < CHUNK ? b->n - first : CHUNK;
    for (size_t i = 0; i < n; i++) s[i] = b->eta[first + i] - of->log_phi;
    if (log_one) b->k->softplus(n, s, log_one);
    b->k->sigmoid(n, s, p);
    return n;
}

/* R of (5); 0 for y = 0. */
static double digamma_sum(const phi_terms *of, double y)
{
    double t = y + of->phi;
    if (y == 0.0) return 0.0;
    return of->phi * log1p(y / of->phi) - of->phi / t * gamma_gap(t) + of->gap;
}

/* R' - R of (6) and (5). */
static double trigamma_sum(const phi_terms *of, double y)
{
    double t = y + of->phi, ratio = of->phi / t;
    if (y == 0.0) return 0.0;
    return -ratio * y - ratio * ratio * trigamma_gap(t) + of->trigamma_term;
}

/* d/da of (2). */
static double by_shape(const phi_terms *of, double y, double log_one, double p)
{
    return digamma_sum(of, y) - y - of->phi * log_one + (y + of->phi) * p;
}

/* (1). log Gamma(t)/(Gamma(phi) phi^y) is (t - 1/2) log(t/phi) - y plus the remainders of
 * Stirling's formula. */
static void negative_binomial_loglik(const batch *b, double *out)
{
    phi_terms of = terms_at(b);
    double p[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = odds(b, &of, first, out + first, p);
        for (size_t i = first; i < first + n; i++) {
            double y = b->y[i], t = y + of.phi;
            double ways = (t - 0.5) * log1p(y / of.phi) - y + gamma_rest(t) - of.rest;
            out[i] = ways - log_gamma(y + 1.0) + y * b->eta[i] - t * out[i];
        }
    }
}

/* (2) */
static void negative_binomial_gradient(const batch *b, double *d_eta, double *d_aux)
{
    phi_terms of = terms_at(b);
    double log_one[CHUNK], p[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = odds(b, &of, first, d_aux ? log_one : NULL, p);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i];
            d_eta[first + i] = y - (y + of.phi) * p[i];
            if (d_aux) d_aux[first + i] = by_shape(&of, y, log_one[i], p[i]);
        }
    }
}

/* (2) times the rates of eta and a. */
static void negative_binomial_slope(const batch *b, double *out)
{
    phi_terms of = terms_at(b);
    double log_one[CHUNK], p[CHUNK], rate = b->daux[0];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = odds(b, &of, first, log_one, p);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i], by_eta = y - (y + of.phi) * p[i];
            out[first + i] =
                by_eta * b->deta[first + i] + by_shape(&of, y, log_one[i], p[i]) * rate;
        }
    }
}

/* p (1 - p) */
static double spread(double p)
{
    return p * (1.0 - p);
}

/* (3) and (4) */
static void negative_binomial_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    phi_terms of = terms_at(b);
    double log_one[CHUNK], p[CHUNK];
    for (size_t first = 0, n; first < b->n; first += n) {
        n = odds(b, &of, first, log_one, p);
        for (size_t i = 0; i < n; i++) {
            double y = b->y[first + i], spread_term = (y + of.phi) * spread(p[i]);
            ee[first + i] = -spread_term;
            if (ea) ea[first + i] = spread_term - of.phi * p[i];
            if (aa)
                aa[first + i] = digamma_sum(&of, y) + trigamma_sum(&of, y) -
                                of.phi * log_one[i] + 2.0 * of.phi * p[i] - spread_term;
        }
    }
}

/* A Poisson count whose mean is a gamma variate. */
static double negative_binomial_simulate(rng *r, double eta, const double *aux)
{
    double log_mean = eta + draw_log_gamma(r, exp(aux[0])) - aux[0];
    return draw_poisson(r, exp(fmin(log_mean, TOP)));
}

/* E y = mu */
static double negative_binomial_expected(double eta, const double *aux)
{
    (void)aux;
    return exp(fmin(eta, TOP));
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("phi"), .scale = SCALE_LOG, .start = 2.0, .prior = "gamma(0.01,0.01)",
     .help = PHI_HELP},
};

static const predictor family = {
    .check = negative_binomial_check,
    .loglik = negative_binomial_loglik,
    .slope = negative_binomial_slope,
    .gradient = negative_binomial_gradient,
    .curvature = negative_binomial_curvature,
    .simulate = negative_binomial_simulate,
    .cost = 4.0,
    .expected = negative_binomial_expected,
    .small_weights = true,
};

const model_kind model_negative_binomial = {
    .name = "negative_binomial",
    .summary = "Negative binomial regression: counts that spread more than Poisson's, log mean "
               "linear.",
    .support = SUPPORT_COUNTS,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
