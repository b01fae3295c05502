/* Robust regression, y = eta + sigma t with t of Student's distribution with nu degrees of
 * freedom, so that outliers have little influence. With a = log sigma, b = log nu, z = (y -
 * eta)/sigma, q = nu + z^2, w = (nu + 1)/q and psi the digamma function:
 *
 *   log p    = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - a
 *              - (nu+1)/2 log(1 + z^2/nu)                                           (1)
 *   d/d eta  = w z / sigma        d/da = w z^2 - 1                                  (2)
 *   d/db     = (P - nu log(1 + z^2/nu) - 1 + w z^2)/2                               (3)
 *   P        = nu (psi((nu+1)/2) - psi(nu/2))                                       (4)
 *
 * Not log-concave. Lange, Little, Taylor (1989), Robust statistical modeling using the t
 * distribution, JASA 84, 881-896. */
#include "linalg/random_variates.h"
#include "linalg/special_functions.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

/* Targets that are all the same are refused: sigma would go to 0. */
static sbps_status student_t_check(const rows *r, sbps_error *err)
{
    return targets_real(r, "student_t", err);
}

/* Numbers that depend on the auxiliaries only, computed once for all rows. */
typedef struct {
    double sigma, nu, digamma_term; /* digamma_term: P of (4) */
} auxiliary_terms;

/* nu psi(x) is nu log x - nu/x gamma_gap(x), and both x of (4) are nearly nu/2. */
static auxiliary_terms terms_at(const batch *b)
{
    double nu = exp(b->aux[1]), half = 0.5 * nu, other = 0.5 * (nu + 1.0);
    double digamma_term =
        nu * log1p(1.0 / nu) - nu / other * gamma_gap(other) + 2.0 * gamma_gap(half);
    return (auxiliary_terms){exp(b->aux[0]), nu, digamma_term};
}

/* dP/db = P + (nu^2/2) (psi'((nu+1)/2) - psi'(nu/2)). */
static double digamma_term_slope(const auxiliary_terms *s)
{
    double nu = s->nu, half = 0.5 * nu, other = 0.5 * (nu + 1.0), ratio = half / other;
    double trigamma_term =
        ratio * (half - ratio * trigamma_gap(other)) - (half - trigamma_gap(half));
    return s->digamma_term + 2.0 * trigamma_term;
}

/* (1), with the ratio of gamma functions by Stirling's formula, whose large terms cancel. */
static void student_t_loglik(const batch *b, double *out)
{
    double sigma = exp(b->aux[0]), nu = exp(b->aux[1]), half = 0.5 * nu;
    double rise = half * log1p(1.0 / nu) - 0.5 + gamma_rest(half + 0.5) - gamma_rest(half);
    double constant = rise - 0.5 * log(2.0 * M_PI) - b->aux[0];
    for (size_t i = 0; i < b->n; i++) {
        double z = (b->y[i] - b->eta[i]) / sigma;
        out[i] = constant - (half + 0.5) * log1p(z * z / nu);
    }
}

/* Returns d/d eta of row i by (2); unless NULL, sets the derivatives by log sigma (2) and log
 * nu (3). */
static double row_slopes(const batch *b, const auxiliary_terms *s, size_t i, double *by_sigma,
                         double *by_nu)
{
    double z = (b->y[i] - b->eta[i]) / s->sigma, w = (s->nu + 1.0) / (s->nu + z * z);
    if (by_sigma) *by_sigma = w * z * z - 1.0;
    if (by_nu)
        *by_nu = 0.5 * (s->digamma_term - s->nu * log1p(z * z / s->nu) - 1.0 + w * z * z);
    return w * z / s->sigma;
}

/* (2) and (3), the auxiliaries in the order sigma, nu. */
static void student_t_gradient(const batch *b, double *d_eta, double *d_aux)
{
    auxiliary_terms s = terms_at(b);
    for (size_t i = 0; i < b->n; i++)
        d_eta[i] =
            row_slopes(b, &s, i, d_aux ? d_aux + i : NULL, d_aux ? d_aux + b->pitch + i : NULL);
}

/* (2) and (3) times the rates of eta, a and b. */
static void student_t_slope(const batch *b, double *out)
{
    auxiliary_terms s = terms_at(b);
    for (size_t i = 0; i < b->n; i++) {
        double by_sigma, by_nu, by_eta = row_slopes(b, &s, i, &by_sigma, &by_nu);
        out[i] = by_eta * b->deta[i] + by_sigma * b->daux[0] + by_nu * b->daux[1];
    }
}

/* Derivatives of (2) and (3) by eta, a and b. */
static void student_t_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    auxiliary_terms s = terms_at(b);
    double sigma = s.sigma, nu = s.nu, term_slope = digamma_term_slope(&s);
    for (size_t i = 0; i < b->n; i++) {
        double z = (b->y[i] - b->eta[i]) / sigma, z2 = z * z, q = nu + z2, q2 = q * q;
        ee[i] = -(nu + 1.0) * (nu - z2) / (q2 * sigma * sigma);
        if (ea) ea[i] = -2.0 * nu * (nu + 1.0) * z / (q2 * sigma);
        if (ea) ea[b->pitch + i] = nu * z * (z2 - 1.0) / (q2 * sigma);
        if (!aa) continue;
        aa[i] = -2.0 * nu * (nu + 1.0) * z2 / q2;
        aa[b->pitch + i] = nu * z2 * (z2 - 1.0) / q2;
        aa[2 * b->pitch + i] =
            0.5 * (term_slope - nu * log1p(z2 / nu) + nu * z2 / q + nu * z2 * (z2 - 1.0) / q2);
    }
}

/* y = eta + sigma N/sqrt(2 g/nu), with N standard normal and g a gamma variate of shape nu/2:
 * the definition of Student's distribution. */
static double student_t_simulate(rng *r, double eta, const double *aux)
{
    double half = 0.5 * exp(aux[1]), normal = rng_normal(r);
    return eta + exp(aux[0]) * normal * exp(0.5 * (log(half) - draw_log_gamma(r, half)));
}

/* The centre of the distribution, which is its mean for nu > 1. */
static double student_t_expected(double eta, const double *aux)
{
    (void)aux;
    return eta;
}

static const model_auxiliary auxiliaries[] = {
    {AUXILIARY("sigma"), .scale = SCALE_LOG, .of_target = true, .start = 1.0,
     .prior = "exponential(1)", .perfect_fit = 1.0, .help = SIGMA_HELP},
    {AUXILIARY("nu"), .scale = SCALE_LOG, .start = 4.0, .prior = "gamma(2,0.1)",
     .help = "student_t: prior of the degrees of freedom. auto: gamma(2,0.1)."},
};

static const predictor family = {
    .check = student_t_check,
    .loglik = student_t_loglik,
    .slope = student_t_slope,
    .gradient = student_t_gradient,
    .curvature = student_t_curvature,
    .simulate = student_t_simulate,
    .cost = 2.0,
    .expected = student_t_expected,
};

const model_kind model_student_t = {
    .name = "student_t",
    .summary =
        "Robust linear regression: Student t errors, with the degrees of freedom estimated.",
    .support = SUPPORT_REAL,
    .facts.scales_with_target = true,
    AUXILIARIES(auxiliaries),
    PREDICTOR_MODEL(family),
};
