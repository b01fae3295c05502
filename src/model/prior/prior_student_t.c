/* Student's t prior, theta = (nu, m, s):
 *
 *   log p(x) = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - log s
 *              - (nu+1)/2 log(1 + z^2/nu),   z = (x - m)/s
 *
 * Not log-concave: beyond |z| = sqrt(nu) its curvature is positive. */
#include "linalg/real.h"
#include "model/prior/prior_kinds.h"

#include <math.h>

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

/* at |z| = sqrt(nu) */
static double student_t_slope_bound(const double *theta)
{
    return (theta[0] + 1.0) / (2.0 * sqrt(theta[0]) * theta[2]);
}

static double student_t_mean(const double *theta)
{
    return theta[0] > 1.0 ? theta[1] : NAN;
}

static double student_t_sd(const double *theta)
{
    return theta[0] > 2.0 ? theta[2] * sqrt(theta[0] / (theta[0] - 2.0)) : NAN;
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
};
