/* Flat prior: log p(x) = 0 everywhere. No density: the posterior is proper only where the data
 * make it so. */
#include "model/prior/prior_kinds.h"

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
