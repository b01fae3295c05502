/* Laplace (double exponential) prior, theta = (m, s):
 *
 *   log p(x) = -|x - m|/s - log(2 s)
 *
 * Its slope jumps at the kink x = m, where the mode of a posterior may sit; there the slope is
 * said to be 0, the middle of the jump. */
#include "model/prior/prior_kinds.h"

#include <math.h>

static bool laplace_valid(const double *theta)
{
    return isfinite(theta[0]) && isfinite(theta[1]) && theta[1] > 0.0;
}

static double laplace_logpdf(const double *theta, double x)
{
    return -fabs(x - theta[0]) / theta[1] - log(2.0 * theta[1]);
}

static double laplace_slope(const double *theta, double x)
{
    if (x == theta[0]) return 0.0;
    return (x < theta[0] ? 1.0 : -1.0) / theta[1];
}

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

static double laplace_slope_bound(const double *theta)
{
    return 1.0 / theta[1];
}

static double laplace_mean(const double *theta)
{
    return theta[0];
}

static double laplace_sd(const double *theta)
{
    return M_SQRT2 * theta[1];
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
};
