/* The stated bias of a run against its true bias, both in posterior sds. */
#ifndef TESTS_STAT_BIAS_H
#define TESTS_STAT_BIAS_H

#include "stat/sample.h"

/* Least squares of true on stated bias through the origin, over parameters and runs. */
typedef struct {
    double products, squares, noise; /* sums: true x stated, stated^2, stated^2 x error^2 */
    double true_squares, error_squares;
    size_t count;
} bias_fit;

__attribute__((unused)) static void bias_fit_add(bias_fit *fit, const sbps_result *truth,
                                                 const sbps_result *r)
{
    for (size_t j = 0; j < r->dim; j++) {
        double sd = truth->sd[j], off = (r->mean[j] - truth->mean[j]) / sd, stated = r->bias[j];
        double error = hypot(r->mcse[j], truth->mcse[j]) / sd;
        fit->products += off * stated;
        fit->squares += stated * stated;
        fit->noise += stated * stated * error * error;
        fit->true_squares += off * off;
        fit->error_squares += error * error;
        fit->count++;
    }
}

__attribute__((unused)) static double bias_slope(const bias_fit *fit)
{
    return fit->products / fit->squares;
}

__attribute__((unused)) static double bias_slope_error(const bias_fit *fit)
{
    return sqrt(fit->noise) / fit->squares;
}

/* Root mean squares of the stated bias and of the true bias, the latter without its Monte Carlo
 * error. */
__attribute__((unused)) static double stated_size(const bias_fit *fit)
{
    return sqrt(fit->squares / (double)fit->count);
}

__attribute__((unused)) static double true_size(const bias_fit *fit)
{
    return sqrt(fmax(fit->true_squares - fit->error_squares, 0.0) / (double)fit->count);
}

/* Is a true bias of at most `size` (rms) compatible with the errors? Of m squared errors the
 * sum scatters by sqrt(2 m). */
__attribute__((unused)) static bool true_size_within(const bias_fit *fit, double size)
{
    double scatter = MAX_Z * sqrt(2.0 / (double)fit->count);
    return fit->true_squares <=
           (1.0 + scatter) * fit->error_squares + (double)fit->count * size * size;
}

/* Differences of stated and true bias in units of the stated error. */
typedef struct {
    double squares, within, count; /* sum of z^2; |z| < 2; all */
} bias_cover;

__attribute__((unused)) static void bias_cover_add(bias_cover *cover, const sbps_result *truth,
                                                   const sbps_result *r)
{
    for (size_t j = 0; j < r->dim; j++) {
        double sd = truth->sd[j], off = (r->mean[j] - truth->mean[j]) / sd;
        double error = hypot(hypot(r->mcse[j], truth->mcse[j]) / sd, r->bias_se[j]);
        double z = (off - r->bias[j]) / error;
        cover->squares += z * z;
        cover->within += fabs(z) < 2.0;
        cover->count++;
    }
}

#endif
