/* Small dense algebra without lanes: terms are added one after another, as written. The
 * kernels are faster on long vectors but round differently, so that the two are not
 * interchangeable where bits count. */
#ifndef LINALG_DENSE_MATRIX_H
#define LINALG_DENSE_MATRIX_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* sum_i x_i */
static inline double sum(size_t n, const double *x)
{
    double total = 0.0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return total;
}

/* True if no element is infinite or NaN. */
static inline bool all_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* x.y */
static inline double dot(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* |x| */
static inline double norm(size_t n, const double *x)
{
    return sqrt(dot(n, x, x));
}

/* y += a x */
static inline void add_scaled(size_t n, double a, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* out = A x, A d*d, row-major */
static inline void apply_matrix(size_t d, const double *a, const double *x, double *out)
{
    for (size_t i = 0; i < d; i++) out[i] = dot(d, a + i * d, x);
}

/* x'Ax, row by row: sum_i x_i (A x)_i */
static inline double quadratic_form(size_t d, const double *a, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < d; i++) sum += dot(d, a + i * d, x) * x[i];
    return sum;
}

/* x'Ax, term by term: sum_ij (x_i A_ij) x_j. Rounds differently from quadratic_form. */
static inline double quadratic_terms(size_t d, const double *a, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) sum += x[i] * a[i * d + j] * x[j];
    return sum;
}

/* A symmetric matrix packed as its lower triangle, row by row: the number of its elements,
 * and the position of (i, j). */
static inline size_t packed_size(size_t d)
{
    return d * (d + 1) / 2;
}
static inline size_t packed_index(size_t i, size_t j)
{
    return i < j ? packed_size(j) + i : packed_size(i) + j;
}

#endif
