/* Gauss-Hermite quadrature for the standard normal: sum_k weight_k f(node_k) = E f(t), exact for
 * polynomials of degree below 2n. */
#ifndef LINALG_HERMITE_H
#define LINALG_HERMITE_H

#include <stddef.h>

#define HERMITE_MAX ((size_t)64)

/* 1 <= n <= HERMITE_MAX; nodes increase. */
void hermite_rule(size_t n, double *node, double *weight);

#endif
