/* Column moments, the corrected two-pass algorithm (Chan, Golub, LeVeque 1983):
 *
 *   m  = s + (1/n) sum (x - s),   s the first row                              (1)
 *   e  = (1/n) sum (x - m),   mean = m + e                                     (2)
 *   sd = sqrt((1/n) sum (x - m)^2 - e^2)                                       (3)
 *
 * Sums run over blocks of rows, so rounding grows with the square root of n at most. */
#include "data/moments.h"

#include "base/memory.h"
#include "base/workers.h"
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

typedef struct {
    const rows *r;
    const double *shift;
    double *sums; /* 2 d a block */
    double *line; /* stride a thread */
} block_sums;

static void sum_block(void *self, unsigned worker, size_t index)
{
    const block_sums *b = self;
    const rows *r = b->r;
    size_t first = index * BLOCK_ROWS, d = r->d;
    double *sum = b->sums + 2 * d * index;
    memset(sum, 0, 2 * d * sizeof *sum);
    add_block(r, first, r->n - first < BLOCK_ROWS ? r->n - first : BLOCK_ROWS, b->shift, sum,
              sum + d, b->line + worker * r->stride);
}

/* total[0..d) and total[d..2d): sums of x - shift and of its square over all rows, the blocks' in their
 * order. */
static sbps_status add_rows(block_sums *b, unsigned threads, double *total, sbps_error *err)
{
    const rows *r = b->r;
    size_t d = r->d, blocks = (r->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
    if (r->storage->sums) {
        r->storage->sums(r, b->shift, total, total + d, b->sums);
        return SBPS_OK;
    }
    sbps_status status = workers_run(threads, blocks, sum_block, b, err);
    memset(total, 0, 2 * d * sizeof *total);
    for (size_t k = 0; k < blocks; k++)
        for (size_t j = 0; j < 2 * d; j++) total[j] += b->sums[2 * d * k + j];
    return status;
}

/* A storage that sums by itself needs d doubles of room. */
static sbps_status open_sums(block_sums *b, unsigned threads, sbps_error *err)
{
    const rows *r = b->r;
    size_t blocks = r->storage->sums ? 1 : (r->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
    b->sums = unset_doubles(2 * r->d * blocks);
    b->line = new_doubles(r->stride * threads);
    return b->sums && b->line ? SBPS_OK : fail_memory(err);
}

sbps_status column_moments(const rows *r, unsigned threads, double *mean, double *sd,
                           sbps_error *err)
{
    size_t d = r->d;
    double n = (double)r->n, *total = new_doubles(2 * d);
    block_sums b = {.r = r, .shift = mean};
    sbps_status status = total ? open_sums(&b, threads, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    r->storage->decode(r, 0, b.line);
    memcpy(mean, b.line, d * sizeof *mean);
    if ((status = add_rows(&b, threads, total, err)) != SBPS_OK) goto done;
    for (size_t j = 0; j < d; j++) mean[j] += total[j] / n;
    if ((status = add_rows(&b, threads, total, err)) != SBPS_OK) goto done;
    for (size_t j = 0; j < d; j++) {
        double e = total[j] / n;
        double variance = total[d + j] / n - e * e;
        mean[j] += e;
        sd[j] = variance > 0 ? sqrt(variance) : isnan(variance) ? NAN : 0.0;
    }
done:
    free(total);
    free(b.sums);
    free(b.line);
    return status;
}
