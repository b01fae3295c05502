/* Special functions.
 *
 * The logarithm of the gamma function and its derivatives, less their leading terms for
 * large x: what is left is small where the functions are large, so that sums of them lose no
 * digits. With psi = (log Gamma)':
 *
 *   log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + gamma_rest(x)                      (1)
 *   gamma_gap(x)  = x (log x - psi(x)),   1 at x = 0, 1/2 for large x                     (2)
 *   trigamma_gap(x) = x - x^2 psi'(x),    -1 at x = 0, -1/2 for large x                   (3)
 *
 * x gamma_gap'(x) = gamma_gap(x) + trigamma_gap(x). All for x > 0, to 1e-13. */
#ifndef LINALG_SPECIAL_FUNCTIONS_H
#define LINALG_SPECIAL_FUNCTIONS_H

#include <stddef.h>

/* The functions of (1), (2) and (3). */
double gamma_rest(double x);
double gamma_gap(double x);
double trigamma_gap(double x);

#define HERMITE_MAX ((size_t)64)

/* Gauss-Hermite quadrature for the standard normal: sum_k weight_k f(node_k) = E f(t), exact
 * for polynomials of degree below 2n. Fills n nodes, increasing, and weights; 1 <= n <=
 * HERMITE_MAX. */
void hermite_rule(size_t n, double *node, double *weight);

#endif
