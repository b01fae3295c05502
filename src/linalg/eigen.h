/* Eigenvalues and eigenvectors of small symmetric matrices. */
#ifndef LINALG_EIGEN_H
#define LINALG_EIGEN_H

#include <stddef.h>

/* a = sum over k of value[k] vector_k vector_k', value[k] = a[k * d + k] on return, vector_k the k-th row of `vectors`.
 * a: d*d, symmetric, overwritten. Values come in no order. */
void symmetric_eigen(size_t d, double *a, double *vectors);

#endif
