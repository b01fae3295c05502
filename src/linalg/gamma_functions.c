/* See gamma.h. */
#include "linalg/gamma_functions.h"
#include "linalg/real.h"

#define FAR 8.0 /* from where the series are good to 1e-13 */

/* c_0 + s (c_1 + s (c_2 + ...)) */
static double series(double s, const double c[7])
{
    double sum = c[6];
    for (int i = 5; i >= 0; i--) sum = c[i] + s * sum;
    return sum;
}

static double far_rest(double x)
{
    static const double c[7] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360360, 1.0 / 156};
    return series(1.0 / (x * x), c) / x;
}

double gamma_rest(double x)
{
    if (x >= FAR) return far_rest(x);
    return log_gamma(x) - (x - 0.5) * log(x) + x - 0.5 * log(2.0 * M_PI);
}

/* log x - psi(x) */
static double far_gap(double x)
{
    static const double c[7] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double s = 1.0 / (x * x);
    return 0.5 / x + s * series(s, c);
}

double gamma_gap(double x)
{
    double sum = 0.0, at = x + 1.0;
    if (x >= FAR) return x * far_gap(x);
    for (; at < FAR; at += 1.0) sum += 1.0 / at;
    return 1.0 + x * (log(x / at) + sum + far_gap(at));
}

/* psi'(x) - 1/x */
static double far_trigamma(double x)
{
    static const double c[7] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                5.0 / 66, -691.0 / 2730, 7.0 / 6};
    double s = 1.0 / (x * x);
    return s * (0.5 + series(s, c) / x);
}

double trigamma_gap(double x)
{
    double sum = 0.0, at = x + 1.0;
    if (x >= FAR) return -x * x * far_trigamma(x);
    for (; at < FAR; at += 1.0) sum += 1.0 / (at * at);
    return x - 1.0 - x * x * (sum + 1.0 / at + far_trigamma(at));
}
