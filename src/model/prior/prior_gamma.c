/* Gamma prior on x > 0, theta = (shape k, rate):
 *
 *   log p(x) = k log rate - log Gamma(k) + (k - 1) log x - rate x */
#include "linalg/real.h"
#include "model/prior/prior_kinds.h"

#include <math.h>

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
};
