/* Priors of single parameters, one section each. theta are the numbers in the parentheses; a
 * log density is up to a constant that depends on theta only. */
#include "model/prior/prior_kinds.h"
#include "linalg/random_variates.h"
#include "linalg/real.h"

#include <math.h>

/* Normal, theta = (m, s):
 *
 *   log p(x) = -z^2/2 - log s - log(2 pi)/2,   z = (x - m)/s */
static bool normal_valid(const double *theta)
{
    return isfinite(theta[0]) && isfinite(theta[1]) && theta[1] > 0.0;
}

static double normal_logpdf(const double *theta, double x)
{
    double z = (x - theta[0]) / theta[1];
    return -0.5 * z * z - log(theta[1]) - 0.5 * log(2.0 * M_PI);
}

static double normal_slope(const double *theta, double x)
{
    return -(x - theta[0]) / (theta[1] * theta[1]);
}

static double normal_curvature(const double *theta, double x)
{
    (void)x;
    return -1.0 / (theta[1] * theta[1]);
}

static double normal_mean(const double *theta)
{
    return theta[0];
}

static double normal_sd(const double *theta)
{
    return theta[1];
}

static double normal_draw(const double *theta, rng *r)
{
    return theta[0] + theta[1] * rng_normal(r);
}

static const char *const normal_numbers[] = {"mean", "sd"};
static const int normal_powers[] = {1, 1};

const prior_kind prior_normal = {
    .name = "normal",
    .summary = "Gaussian with a mean and a standard deviation.",
    .numbers = 2,
    .number_names = normal_numbers,
    .powers = normal_powers,
    .quadratic = true,
    .log_concave = true,
    .valid = normal_valid,
    .logpdf = normal_logpdf,
    .slope = normal_slope,
    .curvature = normal_curvature,
    .mean = normal_mean,
    .sd = normal_sd,
    .draw = normal_draw,
};

/* ---- student_t ---- */

/* Student's t, theta = (nu, m, s):
 *
 *   log p(x) = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - log s
 *              - (nu+1)/2 log(1 + z^2/nu),   z = (x - m)/s
 *
 * Not log-concave: the curvature is positive beyond |z| = sqrt(nu). */
static bool student_t_valid(const double *theta)
{
    return isfinite(theta[0]) && theta[0] > 0.0 && isfinite(theta[1]) && isfinite(theta[2]) &&
           theta[2] > 0.0;
}

static double student_t_logpdf(const double *theta, double x)
{
    double nu = theta[0], z = (x - theta[1]) / theta[2];
    return log_gamma(0.5 * (nu + 1.0)) - log_gamma(0.5 * nu) - 0.5 * log(nu * M_PI) -
           log(theta[2]) - 0.5 * (nu + 1.0) * log1p(z * z / nu);
}

static double student_t_slope(const double *theta, double x)
{
    double nu = theta[0], z = (x - theta[1]) / theta[2];
    return -(nu + 1.0) * z / ((nu + z * z) * theta[2]);
}

static double student_t_curvature(const double *theta, double x)
{
    double nu = theta[0], z = (x - theta[1]) / theta[2], q = nu + z * z;
    return -(nu + 1.0) * ((nu - z * z) / q) / q / (theta[2] * theta[2]);
}

/* attained at |z| = sqrt(nu) */
static double student_t_slope_bound(const double *theta)
{
    return (theta[0] + 1.0) / (2.0 * sqrt(theta[0]) * theta[2]);
}

/* Exists for nu > 1. */
static double student_t_mean(const double *theta)
{
    return theta[0] > 1.0 ? theta[1] : NAN;
}

/* Exists for nu > 2; larger than s, which is the scale. */
static double student_t_sd(const double *theta)
{
    return theta[0] > 2.0 ? theta[2] * sqrt(theta[0] / (theta[0] - 2.0)) : NAN;
}

/* z sqrt(nu / c) with z normal and c chi-squared, twice a gamma variate of shape nu/2. */
static double student_t_draw(const double *theta, rng *r)
{
    double log_c = M_LN2 + draw_log_gamma(r, 0.5 * theta[0]);
    return theta[1] + theta[2] * rng_normal(r) * exp(0.5 * (log(theta[0]) - log_c));
}

static const char *const student_t_numbers[] = {"df", "mean", "scale"};
static const int student_t_powers[] = {0, 1, 1};

const prior_kind prior_student_t = {
    .name = "student_t",
    .summary = "Student's t with degrees of freedom, a mean and a scale; heavy tails.",
    .numbers = 3,
    .number_names = student_t_numbers,
    .powers = student_t_powers,
    .valid = student_t_valid,
    .logpdf = student_t_logpdf,
    .slope = student_t_slope,
    .curvature = student_t_curvature,
    .mean = student_t_mean,
    .sd = student_t_sd,
    .slope_bound = student_t_slope_bound,
    .draw = student_t_draw,
};

/* ---- cauchy ---- */

/* Cauchy, theta = (m, s):
 *
 *   log p(x) = -log(pi s) - log(1 + z^2),   z = (x - m)/s
 *
 * Not log-concave: the curvature is positive beyond |z| = 1. */
static bool cauchy_valid(const double *theta)
{
    return isfinite(theta[0]) && isfinite(theta[1]) && theta[1] > 0.0;
}

static double cauchy_logpdf(const double *theta, double x)
{
    double z = (x - theta[0]) / theta[1];
    return -log(M_PI * theta[1]) - log1p(z * z);
}

static double cauchy_slope(const double *theta, double x)
{
    double z = (x - theta[0]) / theta[1];
    return -2.0 * z / ((1.0 + z * z) * theta[1]);
}

static double cauchy_curvature(const double *theta, double x)
{
    double z = (x - theta[0]) / theta[1], q = 1.0 + z * z;
    return -2.0 * ((1.0 - z * z) / q) / q / (theta[1] * theta[1]);
}

/* attained at |z| = 1 */
static double cauchy_slope_bound(const double *theta)
{
    return 1.0 / theta[1];
}

static double cauchy_draw(const double *theta, rng *r)
{
    return theta[0] + theta[1] * tan(M_PI * (rng_uniform(r) - 0.5));
}

static const char *const cauchy_numbers[] = {"location", "scale"};
static const int cauchy_powers[] = {1, 1};

const prior_kind prior_cauchy = {
    .name = "cauchy",
    .summary = "Cauchy with a location and a scale; very heavy tails.",
    .numbers = 2,
    .number_names = cauchy_numbers,
    .powers = cauchy_powers,
    .valid = cauchy_valid,
    .logpdf = cauchy_logpdf,
    .slope = cauchy_slope,
    .curvature = cauchy_curvature,
    .slope_bound = cauchy_slope_bound,
    .draw = cauchy_draw,
};

/* ---- laplace ---- */

/* Laplace (double exponential), theta = (m, s):
 *
 *   log p(x) = -|x - m|/s - log(2 s)
 *
 * The slope jumps at the kink x = m, where the mode of a posterior can be; there it is defined
 * as 0, the middle of the jump. */
static bool laplace_valid(const double *theta)
{
    return isfinite(theta[0]) && isfinite(theta[1]) && theta[1] > 0.0;
}

static double laplace_logpdf(const double *theta, double x)
{
    return -fabs(x - theta[0]) / theta[1] - log(2.0 * theta[1]);
}

/* Constant on both sides of the kink. */
static double laplace_slope(const double *theta, double x)
{
    if (x == theta[0]) return 0.0;
    return (x < theta[0] ? 1.0 : -1.0) / theta[1];
}

/* 0 everywhere but at the kink, where it does not exist. */
static double laplace_curvature(const double *theta, double x)
{
    (void)theta;
    (void)x;
    return 0.0;
}

static double laplace_kink(const double *theta)
{
    return theta[0];
}

/* Attained everywhere but at the kink. */
static double laplace_slope_bound(const double *theta)
{
    return 1.0 / theta[1];
}

static double laplace_mean(const double *theta)
{
    return theta[0];
}

/* The variance is 2 s^2. */
static double laplace_sd(const double *theta)
{
    return M_SQRT2 * theta[1];
}

static double laplace_draw(const double *theta, rng *r)
{
    double size = theta[1] * rng_exponential(r);
    return rng_uniform(r) < 0.5 ? theta[0] - size : theta[0] + size;
}

static const char *const laplace_numbers[] = {"location", "scale"};
static const int laplace_powers[] = {1, 1};

const prior_kind prior_laplace = {
    .name = "laplace",
    .summary = "Double exponential with a location and a scale; its mode shrinks weights to "
               "the location.",
    .numbers = 2,
    .number_names = laplace_numbers,
    .powers = laplace_powers,
    .log_concave = true,
    .valid = laplace_valid,
    .logpdf = laplace_logpdf,
    .slope = laplace_slope,
    .curvature = laplace_curvature,
    .mean = laplace_mean,
    .sd = laplace_sd,
    .kink = laplace_kink,
    .slope_bound = laplace_slope_bound,
    .draw = laplace_draw,
};

/* ---- exponential ---- */

/* Exponential, for x > 0, theta = (rate):
 *
 *   log p(x) = log rate - rate x */
static bool exponential_valid(const double *theta)
{
    return isfinite(theta[0]) && theta[0] > 0.0;
}

static double exponential_logpdf(const double *theta, double x)
{
    return x < 0.0 ? -INFINITY : log(theta[0]) - theta[0] * x;
}

static double exponential_slope(const double *theta, double x)
{
    (void)x;
    return -theta[0];
}

static double exponential_curvature(const double *theta, double x)
{
    (void)theta;
    (void)x;
    return 0.0;
}

static double exponential_mean(const double *theta)
{
    return 1.0 / theta[0];
}

static double exponential_sd(const double *theta)
{
    return 1.0 / theta[0];
}

static double exponential_draw(const double *theta, rng *r)
{
    return rng_exponential(r) / theta[0];
}

static const char *const exponential_numbers[] = {"rate"};
static const int exponential_powers[] = {-1};

const prior_kind prior_exponential = {
    .name = "exponential",
    .summary = "Exponential with a rate, for positive parameters such as sigma.",
    .numbers = 1,
    .number_names = exponential_numbers,
    .powers = exponential_powers,
    .positive = true,
    .valid = exponential_valid,
    .logpdf = exponential_logpdf,
    .slope = exponential_slope,
    .curvature = exponential_curvature,
    .mean = exponential_mean,
    .sd = exponential_sd,
    .draw = exponential_draw,
};

/* ---- gamma ---- */

/* Gamma, for x > 0, theta = (shape k, rate):
 *
 *   log p(x) = k log rate - log Gamma(k) + (k - 1) log x - rate x */
static bool gamma_valid(const double *theta)
{
    return isfinite(theta[0]) && theta[0] > 0.0 && isfinite(theta[1]) && theta[1] > 0.0;
}

static double gamma_logpdf(const double *theta, double x)
{
    if (x < 0.0) return -INFINITY;
    return theta[0] * log(theta[1]) - log_gamma(theta[0]) + (theta[0] - 1.0) * log(x) -
           theta[1] * x;
}

static double gamma_slope(const double *theta, double x)
{
    return (theta[0] - 1.0) / x - theta[1];
}

static double gamma_curvature(const double *theta, double x)
{
    return (1.0 - theta[0]) / (x * x);
}

static double gamma_mean(const double *theta)
{
    return theta[0] / theta[1];
}

static double gamma_sd(const double *theta)
{
    return sqrt(theta[0]) / theta[1];
}

static double gamma_draw(const double *theta, rng *r)
{
    return exp(draw_log_gamma(r, theta[0])) / theta[1];
}

static const char *const gamma_numbers[] = {"shape", "rate"};
static const int gamma_powers[] = {0, -1};

const prior_kind prior_gamma = {
    .name = "gamma",
    .summary = "Gamma with a shape and a rate, for positive parameters such as nu.",
    .numbers = 2,
    .number_names = gamma_numbers,
    .powers = gamma_powers,
    .positive = true,
    .valid = gamma_valid,
    .logpdf = gamma_logpdf,
    .slope = gamma_slope,
    .curvature = gamma_curvature,
    .mean = gamma_mean,
    .sd = gamma_sd,
    .draw = gamma_draw,
};

/* ---- lkj ---- */

/* LKJ, for a correlation x, theta = (eta):
 *
 *   log p(x) = (eta - 1) log(1 - x^2) + constant                                      (1)
 *
 * Uniform for eta = 1, concentrated around 0 for larger eta. For several correlations it is the
 * distribution of partial correlations, each with an eta of its own
 * (model/mixed/effect_spread.h). Lewandowski, Kurowicka, Joe (2009), Generating random
 * correlation matrices based on vines and extended onion method, Journal of Multivariate
 * Analysis 100, 1989-2001. */
static bool lkj_valid(const double *theta)
{
    return isfinite(theta[0]) && theta[0] > 0.0;
}

/* 1 - x^2, at least PRIOR_REST. */
static double rest(double x)
{
    return fmax(1.0 - x * x, PRIOR_REST);
}

static double lkj_logpdf(const double *theta, double x)
{
    int sign;
    double constant = lgamma_r(2.0 * theta[0], &sign) - 2.0 * lgamma_r(theta[0], &sign) -
                      (2.0 * theta[0] - 1.0) * M_LN2;
    return constant + (theta[0] - 1.0) * log(rest(x));
}

static double lkj_slope(const double *theta, double x)
{
    return -2.0 * (theta[0] - 1.0) * x / rest(x);
}

static double lkj_curvature(const double *theta, double x)
{
    return -2.0 * (theta[0] - 1.0) * (1.0 + x * x) / (rest(x) * rest(x));
}

static double lkj_mean(const double *theta)
{
    (void)theta;
    return 0.0;
}

/* (1 + x)/2 has the distribution beta(eta, eta). */
static double lkj_sd(const double *theta)
{
    return 1.0 / sqrt(2.0 * theta[0] + 1.0);
}

/* x = (a - b)/(a + b) with gamma variates a and b of shape eta; the difference of their
 * logarithms is twice atanh(x). */
static double lkj_draw(const double *theta, rng *r)
{
    double a = draw_log_gamma(r, theta[0]), b = draw_log_gamma(r, theta[0]);
    return tanh(0.5 * (a - b));
}

static const char *const lkj_numbers[] = {"eta"};
static const int lkj_powers[] = {0};

const prior_kind prior_lkj = {
    .name = "lkj",
    .summary = "LKJ of correlations: 1 is uniform, larger numbers draw them to 0.",
    .numbers = 1,
    .number_names = lkj_numbers,
    .powers = lkj_powers,
    .correlation = true,
    .valid = lkj_valid,
    .logpdf = lkj_logpdf,
    .slope = lkj_slope,
    .curvature = lkj_curvature,
    .mean = lkj_mean,
    .sd = lkj_sd,
    .draw = lkj_draw,
};

/* ---- flat ---- */

/* Flat: log p(x) = 0 everywhere. It is not a density: the posterior is proper only if the data
 * make it so. */
static bool flat_valid(const double *theta)
{
    (void)theta;
    return true;
}

static double flat_zero(const double *theta, double x)
{
    (void)theta;
    (void)x;
    return 0.0;
}

const prior_kind prior_flat = {
    .name = "flat",
    .summary = "Constant; no density, so the data alone must make the posterior proper.",
    .quadratic = true,
    .log_concave = true,
    .valid = flat_valid,
    .logpdf = flat_zero,
    .slope = flat_zero,
    .curvature = flat_zero,
};
