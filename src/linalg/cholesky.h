/* Cholesky factors of symmetric positive definite matrices: d*d, row-major, lower triangle. */
#ifndef LINALG_CHOLESKY_H
#define LINALG_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* In place; false when the matrix is not positive definite. */
bool cholesky(size_t d, double *a);
/* As cholesky, and says at which pivot it stopped: the first not above `least`; d when done. */
size_t cholesky_pivot(size_t d, double *a, double pivot_min);
/* x <- (L L')^-1 x */
void cholesky_solve(size_t d, const double *factor, double *x);
/* x <- L'^-1 x */
void cholesky_back(size_t d, const double *factor, double *x);
/* (L L')^-1, exactly symmetric */
void cholesky_inverse(size_t d, const double *factor, double *out);

#endif
