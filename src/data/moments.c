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

/* Sums of x - shift and of its square over some rows, which are decoded into `line` unless they
 * are doubles as they lie. */
static void add_block(const rows *r, size_t first, size_t count, const double *shift,
                      double *restrict sum, double *restrict square, double *line)
{
    size_t d = r->d;
    for (size_t i = first; i < first + count; i++) {
        const double *x = r->x ? r->x + i * r->stride : line;
        if (!r->x) r->storage->decode(r, i, line);
        for (size_t j = 0; j < d; j++) {
            double t = x[j] - shift[j];
            sum[j] += t;
            square[j] += t * t;
        }
    }
}

/* total[0..d) and total[d..2d): sums of x - shift and of its square over all rows. `room` has
 * 2 d + stride doubles. */
static void add_rows(const rows *r, const double *shift, double *total, double *room)
{
    size_t d = r->d;
    if (r->storage->sums) {
        r->storage->sums(r, shift, total, total + d, room);
        return;
    }
    memset(total, 0, 2 * d * sizeof *total);
    for (size_t i = 0; i < r->n; i += BLOCK_ROWS) {
        size_t count = r->n - i < BLOCK_ROWS ? r->n - i : BLOCK_ROWS;
        memset(room, 0, 2 * d * sizeof *room);
        add_block(r, i, count, shift, room, room + d, room + 2 * d);
        for (size_t j = 0; j < 2 * d; j++) total[j] += room[j];
    }
}

sbps_status column_moments(const rows *r, double *mean, double *sd, sbps_error *err)
{
    size_t d = r->d;
    double n = (double)r->n, *total = new_doubles(4 * d + r->stride), *room = total + 2 * d;
    if (!total) return fail_memory(err);
    r->storage->decode(r, 0, room);
    memcpy(mean, room, d * sizeof *mean);
    add_rows(r, mean, total, room);
    for (size_t j = 0; j < d; j++) mean[j] += total[j] / n;
    add_rows(r, mean, total, room);
    for (size_t j = 0; j < d; j++) {
        double e = total[j] / n;
        double variance = total[d + j] / n - e * e;
        mean[j] += e;
        sd[j] = variance > 0 ? sqrt(variance) : isnan(variance) ? NAN : 0.0;
    }
    free(total);
    return SBPS_OK;
}
