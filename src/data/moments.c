/* Column moments, the corrected two-pass algorithm (Chan, Golub, LeVeque 1983):
 *
 *   m  = s + (1/n) sum (x - s),   s the first row                              (1)
 *   e  = (1/n) sum (x - m),   mean = m + e                                     (2)
 *   sd = sqrt((1/n) sum (x - m)^2 - e^2)                                       (3)
 *
 * Sums run over blocks of rows, so rounding grows with the square root of n at most. */
#include "data/moments.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 1024 };

/* sum[j] += sum over the rows of (x_j - shift_j), square[j] likewise of its square. */
static void add_block(size_t rows, size_t d, size_t stride, const double *restrict x,
                      const double *restrict shift, double *restrict sum,
                      double *restrict square)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < d; j++) {
            double t = x[i * stride + j] - shift[j];
            sum[j] += t;
            square[j] += t * t;
        }
}

/* total[0..d) and total[d..2d): sums of x - shift and of its square over all rows. */
static void add_rows(size_t n, size_t d, size_t stride, const double *x, const double *shift,
                     double *total, double *block)
{
    memset(total, 0, 2 * d * sizeof *total);
    for (size_t i = 0; i < n; i += BLOCK_ROWS) {
        size_t rows = n - i < BLOCK_ROWS ? n - i : BLOCK_ROWS;
        memset(block, 0, 2 * d * sizeof *block);
        add_block(rows, d, stride, x + i * stride, shift, block, block + d);
        for (size_t j = 0; j < 2 * d; j++) total[j] += block[j];
    }
}

sbps_status column_moments(size_t n, size_t d, size_t stride, const double *x, double *mean,
                           double *sd, sbps_error *err)
{
    double *total = new_doubles(4 * d), *block = total + 2 * d;
    if (!total) return fail_memory(err);
    memcpy(mean, x, d * sizeof *mean);
    add_rows(n, d, stride, x, mean, total, block);
    for (size_t j = 0; j < d; j++) mean[j] += total[j] / (double)n;
    add_rows(n, d, stride, x, mean, total, block);
    for (size_t j = 0; j < d; j++) {
        double e = total[j] / (double)n;
        double variance = total[d + j] / (double)n - e * e;
        mean[j] += e;
        sd[j] = variance > 0 ? sqrt(variance) : isnan(variance) ? NAN : 0.0;
    }
    free(total);
    return SBPS_OK;
}
