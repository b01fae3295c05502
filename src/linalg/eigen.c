/* Cyclic Jacobi rotations, about 50 d^3 operations. LAPACK is faster from d = 50 or so on, but its bits depend on the
 * processor, and it allocates; chains must do neither.
 *
 *   t = sgn(q) / (|q| + sqrt(1 + q^2)),  q = (a_jj - a_ii) / (2 a_ij),  c = 1 / sqrt(1 + t^2),  s = t c
 *
 * G. H. Golub, C. F. Van Loan (2013), Matrix Computations, section 8.5. */
#include "linalg/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SWEEPS_MAX 30

/* Rows i and j of a matrix with `stride` numbers from one element of a row to the next. */
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
