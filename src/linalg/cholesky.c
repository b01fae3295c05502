/* Cholesky factors, row by row, so that every inner product runs along rows:
 *
 *   L_ij = (A_ij - sum_k<j L_ik L_jk) / L_jj,   L_ii^2 = A_ii - sum_k<i L_ik^2              (1)
 *
 * With the vector kernels this takes 0.15 s at d = 1000.
 *
 * Eigenvalues by cyclic Jacobi rotations, about 50 d^3 operations. LAPACK is faster from d =
 * 50 or so on, but its bits depend on the processor, and it allocates; chains must do
 * neither.
 *
 *   t = sgn(q) / (|q| + sqrt(1 + q^2)),  q = (a_jj - a_ii) / (2 a_ij),                      (2)
 *   c = 1 / sqrt(1 + t^2),  s = t c
 *
 * G. H. Golub, C. F. Van Loan (2013), Matrix Computations, section 8.5. */
#include "linalg/cholesky.h"
#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* below this size choosing the best kernels would dominate; all kernels give the same bits */
#define SMALL      ((size_t)8)
#define ROWS       ((size_t)16) /* rows factored at a time */
#define SWEEPS_MAX 30

/* Computes element j of rows first to last - 1, from the finished row j; in the same order
 * for any block of rows. */
static void divide_rows(const kernels *k, size_t d, double *a, size_t j, size_t first,
                        size_t last)
{
    const double *finished = a + j * d;
    for (size_t i = first; i < last; i++) {
        double *row = a + i * d;
        row[j] = (row[j] - k->dot(j, row, finished)) / finished[j];
    }
}

/* Several rows at a time, so that a finished row is read from memory once for all of them;
 * the bits do not depend on the number. */
size_t cholesky_pivot(size_t d, double *a, double pivot_min)
{
    const kernels *k = d < SMALL ? &kernels_scalar : kernels_best();
    for (size_t first = 0; first < d; first += ROWS) {
        size_t last = first + ROWS < d ? first + ROWS : d;
        for (size_t j = 0; j < first; j++) divide_rows(k, d, a, j, first, last);
        for (size_t i = first; i < last; i++) {
            double *row = a + i * d;
            double pivot = row[i] - k->dot(i, row, row);
            if (!(pivot > pivot_min)) return i;
            row[i] = sqrt(pivot);
            divide_rows(k, d, a, i, i + 1, last);
        }
    }
    return d;
}

bool cholesky(size_t d, double *a)
{
    return cholesky_pivot(d, a, 0.0) == d;
}

void cholesky_solve(size_t d, const double *factor, double *x)
{
    const kernels *k = d < SMALL ? &kernels_scalar : kernels_best();
    for (size_t i = 0; i < d; i++)
        x[i] = (x[i] - k->dot(i, factor + i * d, x)) / factor[i * d + i];
    for (size_t i = d; i-- > 0;) {
        x[i] /= factor[i * d + i];
        k->axpy(i, -x[i], factor + i * d, x);
    }
}

void cholesky_back(size_t d, const double *factor, double *x)
{
    for (size_t j = d; j-- > 0;) {
        for (size_t k = j + 1; k < d; k++) x[j] -= factor[k * d + j] * x[k];
        x[j] /= factor[j * d + j];
    }
}

/* Row j solves for unit vector j; rounding makes the halves differ, and the upper one is
 * kept. */
void cholesky_inverse(size_t d, const double *factor, double *out)
{
    memset(out, 0, d * d * sizeof *out);
    for (size_t j = 0; j < d; j++) {
        out[j * d + j] = 1.0;
        cholesky_solve(d, factor, out + j * d);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) out[i * d + j] = out[j * d + i];
}

/* ---- eigenvectors ---- */

/* Rotates two rows or columns; stride: distance between their elements. */
static void rotate(size_t d, double *x, double *y, size_t stride, double c, double s)
{
    for (size_t k = 0; k < d * stride; k += stride) {
        double old = x[k];
        x[k] = c * old - s * y[k];
        y[k] = s * old + c * y[k];
    }
}

static double sum_of_squares_off(size_t d, const double *a)
{
    double total = 0.0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) total += a[i * d + j] * a[i * d + j];
    return total;
}

void symmetric_eigen(size_t d, double *a, double *vectors)
{
    double all = 0.0;
    memset(vectors, 0, d * d * sizeof *vectors);
    for (size_t i = 0; i < d; i++) vectors[i * d + i] = 1.0;
    for (size_t i = 0; i < d * d; i++) all += a[i] * a[i];
    double tolerance = all * DBL_EPSILON * DBL_EPSILON;
    for (int sweep = 0; sweep < SWEEPS_MAX && sum_of_squares_off(d, a) > tolerance; sweep++)
        for (size_t i = 0; i + 1 < d; i++)
            for (size_t j = i + 1; j < d; j++) {
                double off = a[i * d + j];
                if (off * off * (double)(d * d) <= tolerance) continue;
                double q = (a[j * d + j] - a[i * d + i]) / (2.0 * off);
                double t = copysign(1.0, q) / (fabs(q) + sqrt(1.0 + q * q));
                double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
                rotate(d, a + i * d, a + j * d, 1, c, s);
                rotate(d, a + i, a + j, d, c, s);
                rotate(d, vectors + i * d, vectors + j * d, 1, c, s);
            }
}
