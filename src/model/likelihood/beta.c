/* Beta regression with the logit link: 0 < y < 1 with mean mu = 1/(1 + e^-eta) and variance mu
 * (1 - mu)/(1 + phi). With a = log phi as auxiliary, p = mu phi, q = (1 - mu) phi, l = log y/(1
 * - y), v = mu (1 - mu) phi and k = p log(y/mu) + q log((1 - y)/(1 - mu)):
 *
 *   log p(y)      = log Gamma(phi)/(Gamma(p) Gamma(q)) + (p - 1) log y + (q - 1) log(1 - y) (1)
 *   d/d eta       = v (l - eta) + (1 - mu) gap(p) - mu gap(q)                               (2)
 *   d/da          = k - gap(phi) + gap(p) + gap(q)                                          (3)
 *   d^2/d eta^2   = v ((1 - 2 mu) (l - eta) - 1) - mu (1 - mu) (gap(p) + gap(q))
 *                   + (1 - mu)^2 own(p) + mu^2 own(q)                                       (4)
 *   d^2/d eta da  = v (l - eta) + (1 - mu) own(p) - mu own(q)                               (5)
 *   d^2/da^2      = k - own(phi) + own(p) + own(q)                                          (6)
 *
 * gap is gamma_gap of linalg/special_functions.h, and own = gamma_gap + trigamma_gap: only v
 * and k grow with phi, and they are small where y is near mu. Beyond |eta| = TOP the density is
 * continued along its tangent.
 *
 * Ferrari, Cribari-Neto (2004), Beta regression for modelling rates and proportions, J. Applied
 * Statistics 31, 799-815. */
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include "linalg/special_functions.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <float.h>
#include <math.h>

/* Limit of |eta|, far from any value that a sampler visits. */
#define TOP 300.0

/* log y and log(1 - y) enter (1), so that 0 and 1 are refused. */
static sbps_status beta_check(const rows *r, sbps_error *err)
{
    return targets_between(r, "beta", 0.0, 1.0, "proportions above 0 and below 1", err);
}

/* Quantities of one row, eta being clamped to -TOP .. TOP. */
typedef struct {
    /* log_other: of 1 - mu; log_rest: of 1 - y */
    double eta, log_mu, log_other, log_y, log_rest;
    double mu, other, p, q, k, v, off; /* other: 1 - mu; off: l - eta */
} row_terms;

/* Computes the quantities of row i at this phi. */
static row_terms evaluate_row(const batch *b, double phi, size_t i)
{
    double eta = larger(-TOP, smaller(b->eta[i], TOP)), y = b->y[i];
    row_terms a = {.eta = eta, .log_y = log(y), .log_rest = log1p(-y)};
    a.log_other = eta > 0.0 ? -eta - log1p(exp(-eta)) : -log1p(exp(eta));
    a.log_mu = a.log_other + eta;
    if (eta > 0.0) a.log_mu = -log1p(exp(-eta));
    a.mu = exp(a.log_mu);
    a.other = exp(a.log_other);
    a.p = a.mu * phi;
    a.q = a.other * phi;
    a.k = a.p * (a.log_y - a.log_mu) + a.q * (a.log_rest - a.log_other);
    a.v = a.mu * a.q;
    a.off = a.log_y - a.log_rest - eta;
    return a;
}

/* d/d eta by (2). */
static double by_eta(const row_terms *a, double gap_p, double gap_q)
{
    return a->v * a->off + a->other * gap_p - a->mu * gap_q;
}

/* (1) by Stirling's formula, whose large terms cancel to k. */
static void beta_loglik(const batch *b, double *out)
{
    double phi = exp(b->aux[0]), constant = 0.5 * (b->aux[0] - log(2.0 * M_PI));
    constant += gamma_rest(phi);
    for (size_t i = 0; i < b->n; i++) {
        row_terms a = evaluate_row(b, phi, i);
        out[i] = constant + a.k + 0.5 * (a.log_mu + a.log_other) - gamma_rest(a.p) -
                 gamma_rest(a.q) - a.log_y - a.log_rest;
        if (b->eta[i] != a.eta)
            out[i] += by_eta(&a, gamma_gap(a.p), gamma_gap(a.q)) * (b->eta[i] - a.eta);
    }
}

/* (2) and (3) per row. */
static void beta_gradient(const batch *b, double *d_eta, double *d_aux)
{
    double phi = exp(b->aux[0]), gap = gamma_gap(phi);
    for (size_t i = 0; i < b->n; i++) {
        row_terms a = evaluate_row(b, phi, i);
        double gap_p = gamma_gap(a.p), gap_q = gamma_gap(a.q);
        d_eta[i] = by_eta(&a, gap_p, gap_q);
        if (d_aux) d_aux[i] = a.k - gap + gap_p + gap_q;
    }
}

/* (2) and (3) times the rates of eta and a. */
static void beta_slope(const batch *b, double *out)
{
    double phi = exp(b->aux[0]), gap = gamma_gap(phi), rate = b->daux[0];
    for (size_t i = 0; i < b->n; i++) {
        row_terms a = evaluate_row(b, phi, i);
        double gap_p = gamma_gap(a.p), gap_q = gamma_gap(a.q);
        out[i] = by_eta(&a, gap_p, gap_q) * b->deta[i] + (a.k - gap + gap_p + gap_q) * rate;
    }
}

/* (4), (5) and (6). */
static void beta_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    double phi = exp(b->aux[0]), own = gamma_gap(phi) + trigamma_gap(phi);
    for (size_t i = 0; i < b->n; i++) {
        row_terms a = evaluate_row(b, phi, i);
        double gaps = gamma_gap(a.p) + gamma_gap(a.q);
        double own_p = gamma_gap(a.p) + trigamma_gap(a.p),
               own_q = gamma_gap(a.q) + trigamma_gap(a.q);
        ee[i] = a.v * ((a.other - a.mu) * a.off - 1.0) - a.mu * a.other * gaps +
                a.other * a.other * own_p + a.mu * a.mu * own_q;
        if (ea) ea[i] = a.v * a.off + a.other * own_p - a.mu * own_q;
        if (aa) aa[i] = a.k - own + own_p + own_q;
    }
}

/* The fraction of one of two gamma variates in their sum. A result that rounds to 0 or 1
 * becomes the nearest number between them. */
static double beta_simulate(rng *r, double eta, const double *aux)
{
    double phi = exp(aux[0]), mu = 1.0 / (1.0 + exp(-eta)), other = 1.0 / (1.0 + exp(eta));
    double odds = draw_log_gamma(r, mu * phi) - draw_log_gamma(r, other * phi);
    double y = 1.0 / (1.0 + exp(-odds));
    return larger(DBL_MIN, smaller(y, 1.0 - 0.5 * DBL_EPSILON));
}

/* E y = mu */
static double beta_expected(double eta, const double *aux)
{
    (void)aux;
    return 1.0 / (1.0 + exp(-eta));
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("phi"), .scale = SCALE_LOG, .start = 10.0, .prior = "gamma(0.01,0.01)",
     .perfect_fit = -2.0, .help = PHI_HELP},
};

static const predictor family = {
    .check = beta_check,
    .loglik = beta_loglik,
    .slope = beta_slope,
    .gradient = beta_gradient,
    .curvature = beta_curvature,
    .simulate = beta_simulate,
    .cost = 10.0,
    .expected = beta_expected,
    .small_weights = true,
};

const model_kind model_beta = {
    .name = "beta",
    .summary =
        "Beta regression: y between 0 and 1, log odds of its mean linear in the columns.",
    .support = SUPPORT_UNIT,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
