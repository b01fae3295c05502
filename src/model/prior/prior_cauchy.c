/* Cauchy prior, theta = (m, s):
 *
 *   log p(x) = -log(pi s) - log(1 + z^2),   z = (x - m)/s
 *
 * Not log-concave: beyond |z| = 1 its curvature is positive. */
#include "model/prior/prior_kinds.h"

#include <math.h>

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

/* at |z| = 1 */
static double cauchy_slope_bound(const double *theta)
{
    return 1.0 / theta[1];
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
};
