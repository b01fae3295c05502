/* The orthonormal polynomials of the standard normal,
 *
 *   p_0 = 1,   sqrt(j + 1) p_(j+1) = x p_j - sqrt(j) p_(j-1):                                    (1)
 *
 * the nodes are the zeros of p_n, one between any two neighbouring zeros of p_(n-1), and the weights
 * 1 / sum_(j<n) p_j(x)^2. Abramowitz and Stegun (1964), 22.7 and 25.4.46. */
#include "linalg/hermite.h"

#include <math.h>
#include <string.h>

#define HALVINGS 200

/* (1); *squares: the sum of those below n. */
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

/* The one zero of p_n between low and high. */
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
        node[i] = zero[i] - (i + 1 == n - i ? zero[i] : 0.0); /* the middle one is 0 */
        polynomial(n, node[i], &squares);
        weight[i] = 1.0 / squares;
    }
}
