/* Normal prior, theta = (m, s):
 *
 *   log p(x) = -z^2/2 - log s - log(2 pi)/2,   z = (x - m)/s */
#include "model/prior/prior_kinds.h"

#include <math.h>

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
};
