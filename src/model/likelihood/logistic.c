/* Logistic regression, y in {0,1}, p = 1/(1 + e^-eta):
 *
 *   log p(y)      = y eta - log(1 + e^eta) = -log(1 + e^z),  z = (1 - 2y) eta     (1)
 *   d/d eta       = y - p                                                        (2)
 *   d^2/d eta^2   = -p (1 - p)                                                   (3)
 *   d^3/d eta^3   = -p (1 - p) (1 - 2p), largest at cosh eta = 2                 (4)
 *
 * and binomial regression: k successes in m trials. A row holds the proportion y = k/m and has
 * the weight m, by which its log-likelihood is multiplied:
 *
 *   m (y eta - log(1 + e^eta)) = log [p^k (1 - p)^(m - k)]                       (5)
 *
 * This is the log-likelihood of k successes and m - k failures as separate rows; the binomial
 * coefficient, which has no parameter, is left out. Derivatives are (2) to (4).
 *
 * McCullagh, Nelder (1989), Generalized Linear Models, chapter 4. */
#include "core/printable.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"
#include "table/row_partition.h"

#include <math.h>

/* Rows at a time, in arrays on the stack. */
#define CHUNK         64
#define THIRD_PEAK_AT 1.3169578969248167 /* arcosh 2 */
#define THIRD_PEAK    0.0962250448649376 /* 1 / (6 sqrt 3) */

/* Targets are 0 or 1, and both occur. */
static sbps_status logistic_check(const rows *r, sbps_error *err)
{
    bool seen[2] = {false, false};
    for (size_t i = 0; i < r->local_rows; i++) {
        if (r->y[i] != 0.0 && r->y[i] != 1.0)
            return fail(err, SBPS_BAD_DATA, "target '%s' holds %g; logistic needs 0 or 1",
                        show_name(r->table.target ? r->table.target : "y").text, r->y[i]);
        seen[r->y[i] == 1.0] = true;
    }
    for (size_t k = 0; k < 2; k++) seen[k] = any_rank(r, seen[k]);
    if (seen[0] && seen[1]) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is %d in every row: only one class; logistic needs both 0 and 1",
                show_name(r->table.target ? r->table.target : "y").text, seen[1] ? 1 : 0);
}

static void logistic_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = (1.0 - 2.0 * b->y[i]) * b->eta[i];
    b->k->softplus(b->n, out, out);
    for (size_t i = 0; i < b->n; i++) out[i] = -out[i];
}

static void logistic_slope(const batch *b, double *out)
{
    b->k->sigmoid(b->n, b->eta, out);
    for (size_t i = 0; i < b->n; i++) out[i] = (b->y[i] - out[i]) * b->deta[i];
}

static void logistic_gradient(const batch *b, double *d_eta, double *d_aux)
{
    (void)d_aux;
    b->k->sigmoid(b->n, b->eta, d_eta);
    for (size_t i = 0; i < b->n; i++) d_eta[i] = b->y[i] - d_eta[i];
}

/* (3), which is even in eta: it is evaluated at -|eta|, where p is the smaller probability and
 * 1 - p does not cancel. */
static void logistic_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    (void)ea;
    (void)aa;
    double mirrored[CHUNK];
    for (size_t first = 0; first < b->n; first += CHUNK) {
        size_t n = b->n - first < CHUNK ? b->n - first : CHUNK;
        for (size_t i = 0; i < n; i++) mirrored[i] = -fabs(b->eta[first + i]);
        b->k->sigmoid(n, mirrored, ee + first);
    }
    for (size_t i = 0; i < b->n; i++) ee[i] = -ee[i] * (1.0 - ee[i]);
}

/* (4), which is odd in eta. */
static double logistic_third(double eta)
{
    double p = 1.0 / (1.0 + exp(fabs(eta))), size = p * (1.0 - p) * (1.0 - 2.0 * p);
    return eta < 0.0 ? -size : size;
}

/* |(4)| rises to its peak and falls from there on, and is even in eta. */
static double logistic_third_bound(double eta, double reach)
{
    double low = fabs(eta) - reach, high = fabs(eta) + reach;
    if (low <= THIRD_PEAK_AT && THIRD_PEAK_AT <= high) return THIRD_PEAK;
    return logistic_third(high < THIRD_PEAK_AT ? high : low);
}

/* 1 with that probability, else 0. */
static double logistic_simulate(rng *r, double eta, const double *aux)
{
    (void)aux;
    return rng_uniform(r) < 1.0 / (1.0 + exp(-eta)) ? 1.0 : 0.0;
}

/* The probability that y is 1. */
static double logistic_expected(double eta, const double *aux)
{
    (void)aux;
    return 1.0 / (1.0 + exp(-eta));
}

static const predictor logistic_predictor = {
    .check = logistic_check,
    .loglik = logistic_loglik,
    .slope = logistic_slope,
    .gradient = logistic_gradient,
    .curvature = logistic_curvature,
    .simulate = logistic_simulate,
    .cost = 2.0,
    .expected = logistic_expected,
    .mean = MEAN_SIGMOID,
    .slope_bound = 1.0,
    .curvature_bound = 0.25,
    .third = logistic_third,
    .third_bound = logistic_third_bound,
};

const model_kind model_logistic = {
    .name = "logistic",
    .summary = "Logistic regression: y is 0 or 1, log odds linear in the columns.",
    .support = SUPPORT_BINARY,
    .facts.log_concave = true,
    PREDICTOR_MODEL(logistic_predictor),
};

/* ---- binomial ---- */

static sbps_status binomial_check(const rows *r, sbps_error *err)
{
    return targets_proportions(r, "binomial", err);
}

/* (5) of one trial as -log(1 + e^-|eta|) minus |eta| times the proportion of the outcome that
 * eta makes less likely: nothing cancels. */
static void binomial_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = -fabs(b->eta[i]);
    b->k->softplus(b->n, out, out);
    for (size_t i = 0; i < b->n; i++) {
        double eta = b->eta[i], y = b->y[i];
        out[i] = -out[i] - (eta > 0.0 ? (1.0 - y) * eta : -y * eta);
    }
}

static const predictor binomial_predictor = {
    .check = binomial_check,
    .loglik = binomial_loglik,
    .slope = logistic_slope,
    .gradient = logistic_gradient,
    .curvature = logistic_curvature,
    .simulate = logistic_simulate,
    .cost = 2.0,
    .expected = logistic_expected,
    .mean = MEAN_SIGMOID,
    .slope_bound = 1.0,
    .curvature_bound = 0.25,
    .third = logistic_third,
    .third_bound = logistic_third_bound,
};

const model_kind model_binomial = {
    .name = "binomial",
    .summary = "Binomial regression: y successes of so many trials, log odds linear in the "
               "columns.",
    .support = SUPPORT_PROPORTIONS,
    .facts.log_concave = true,
    PREDICTOR_MODEL(binomial_predictor),
};
