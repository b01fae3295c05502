/* LKJ prior of a correlation x, theta = (eta):
 *
 *   log p(x) = (eta - 1) log(1 - x^2) + constant                                                 (1)
 *
 * and what makes it a density: uniform at eta = 1, drawn to 0 above. Of several correlations it is the law of partial ones, each
 * with an eta of its own (see model/mixed/effect_spread.h). Lewandowski, Kurowicka, Joe (2009), Journal of Multivariate Analysis
 * 100, 1989-2001. */
#include "model/prior/prior_kinds.h"

#include <math.h>

static bool lkj_valid(const double *theta)
{
    return isfinite(theta[0]) && theta[0] > 0.0;
}

static double rest(double x)
{
    return fmax(1.0 - x * x, PRIOR_REST);
}

static double lkj_logpdf(const double *theta, double x)
{
    int sign;
    double all = lgamma_r(2.0 * theta[0], &sign) - 2.0 * lgamma_r(theta[0], &sign) -
                 (2.0 * theta[0] - 1.0) * M_LN2;
    return all + (theta[0] - 1.0) * log(rest(x));
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

/* (1 + x)/2 is beta(eta, eta) */
static double lkj_sd(const double *theta)
{
    return 1.0 / sqrt(2.0 * theta[0] + 1.0);
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
};
