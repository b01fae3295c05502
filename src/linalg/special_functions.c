/* Gamma functions by their asymptotic series, reached by recurrence: Abramowitz, Stegun
 * (1964), 6.1.40, 6.3.18, 6.4.12; below 8 by 6.3.5 and 6.4.6.
 *
 * Gauss-Hermite quadrature from the orthonormal polynomials of the standard normal,
 *
 *   p_0 = 1,   sqrt(j + 1) p_(j+1) = x p_j - sqrt(j) p_(j-1):                               (4)
 *
 * the nodes are the zeros of p_n, one between any two neighbouring zeros of p_(n-1), and the
 * weights 1 / sum_(j<n) p_j(x)^2. Abramowitz and Stegun (1964), 22.7 and 25.4.46. */
#include "linalg/special_functions.h"
#include "linalg/real.h"

#include <math.h>
#include <string.h>

#define FAR      8.0 /* from here on the series are accurate to 1e-13 */
#define HALVINGS 200

/* ---- gamma functions ---- */

/* c_0 + s (c_1 + s (c_2 + ...)) */
static double series(double s, const double c[7])
{
    double sum = c[6];
    for (int i = 5; i >= 0; i--) sum = c[i] + s * sum;
    return sum;
}

/* gamma_rest for x >= FAR. */
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

/* log x - psi(x) for x >= FAR. */
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

/* psi'(x) - 1/x for x >= FAR. */
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

/* ---- Gauss-Hermite quadrature ---- */

/* p_n(x) by (4); *squares: sum of p_j(x)^2 for j < n. */
static double polynomial(size_t n, double x, double *squares)
{
    double before = 0.0, now = 1.0, total = 0.0;
    for (size_t j = 0; j < n; j++) {
        double next = (x * now - sqrt((double)j) * before) / sqrt((double)j + 1.0);
        total += now * now;
        before = now;
        now = next;
    }
    *squares = total;
    return now;
}

/* The only zero of p_n between low and high, by bisection. */
static double zero_between(size_t n, double low, double high)
{
    double unused, sign = polynomial(n, low, &unused);
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if ((polynomial(n, middle, &unused) > 0.0) == (sign > 0.0))
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

void hermite_rule(size_t n, double *node, double *weight)
{
    double zero[HERMITE_MAX + 1] = {0.0}, next[HERMITE_MAX + 1];
    for (size_t degree = 2; degree <= n; degree++) {
        double reach = 2.0 * sqrt((double)degree);
        for (size_t i = 0; i < degree; i++)
            next[i] = zero_between(degree, i == 0 ? -reach : zero[i - 1],
                                   i + 1 == degree ? reach : zero[i]);
        memcpy(zero, next, degree * sizeof *zero);
    }
    for (size_t i = 0; i < n; i++) {
        double squares;
        /* the middle node is exactly 0 */
        node[i] = zero[i] - (i + 1 == n - i ? zero[i] : 0.0);
        polynomial(n, node[i], &squares);
        weight[i] = 1.0 / squares;
    }
}
