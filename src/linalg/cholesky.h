/* Factorisations of symmetric matrices, d*d, row-major: Cholesky factors in the lower
 * triangle, and eigenvectors of small matrices. No call allocates; results have the same
 * bits on every machine. */
#ifndef LINALG_CHOLESKY_H
#define LINALG_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the lower triangle of a by L, a = L L'; false when a is not positive definite. */
bool cholesky(size_t d, double *a);
/* The same, but stops at the first pivot that is not above pivot_min and returns its index;
 * d when done. */
size_t cholesky_pivot(size_t d, double *a, double pivot_min);
/* x <- (L L')^-1 x */
void cholesky_solve(size_t d, const double *factor, double *x);
/* x <- L'^-1 x */
void cholesky_back(size_t d, const double *factor, double *x);
/* (L L')^-1, exactly symmetric */
void cholesky_inverse(size_t d, const double *factor, double *out);

/* a = sum over k of value[k] vector_k vector_k': on return value[k] = a[k * d + k] and
 * vector_k is row k of `vectors`. a: d*d, symmetric, overwritten. Values are in no order. */
void symmetric_eigen(size_t d, double *a, double *vectors);

#endif
