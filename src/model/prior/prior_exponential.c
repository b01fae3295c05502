/* Exponential prior on x > 0, theta = (rate):
 *
 *   log p(x) = log rate - rate x */
#include "model/prior/prior_kinds.h"

#include <math.h>

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
};
