/* The cost of a slope against that of a gradient, for a logistic regression: CSV on standard
 * output, one line per table and repeat,
 *
 *   place,rows,d,repeat,slope,gradient,both,kept
 *
 * with nanoseconds of processor time per row of a mini-batch:
 *
 *   slope     the directional derivative: two products per row, sigmoids, sums
 *   gradient  one product per row, sigmoids, the weighted sum of the rows
 *   both      the slope, then the gradient of the same mini-batch, whose rows are in the cache
 *   kept      the slope of the same mini-batch further along the line: its products are kept
 *
 * A table of "cache" fits into the second level cache, one of "memory" exceeds the caches.
 * Each of the four reads every mini-batch of the table in the same random order, so that the
 * rows of "memory" come from memory every time. The four take turns REPEATS times:
 *
 *   bench-slopes [REPEATS] */
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH        100
#define DIM_MAX      320
#define CACHE_BYTES  ((size_t)1 << 19)
#define MEMORY_BYTES ((size_t)1 << 28)
#define ROWS_TIMED   ((size_t)100000) /* at least so many rows per time */

typedef struct {
    const kernels *k;
    const double *x;
    size_t stride;
    double w[DIM_MAX], u[DIM_MAX], gradient[DIM_MAX];
    double eta[BATCH], deta[BATCH], y[BATCH], residual[BATCH];
    double sink; /* keeps results alive */
} state;

typedef void method(state *s, size_t first);

static void sum_slopes(state *s)
{
    const slope_terms terms = {.t = 0.01, .base = s->y};
    double sums[2];
    s->k->slope_sums[MEAN_SIGMOID](BATCH, &terms, s->eta, s->deta, s->residual, sums);
    s->sink += sums[0] + sums[1];
}

static void combine(state *s, size_t first)
{
    memset(s->gradient, 0, s->stride * sizeof *s->gradient);
    s->k->row_combine(s->x, s->stride, NULL, first, BATCH, s->residual, s->gradient);
    s->sink += s->gradient[0];
}

static void slope(state *s, size_t first)
{
    s->k->row_products(s->x, s->stride, NULL, first, BATCH, s->w, s->u, s->eta, s->deta);
    sum_slopes(s);
}

static void gradient(state *s, size_t first)
{
    s->k->row_products(s->x, s->stride, NULL, first, BATCH, s->w, NULL, s->eta, NULL);
    s->k->sigmoid(BATCH, s->eta, s->residual);
    for (size_t i = 0; i < BATCH; i++) s->residual[i] = s->y[i] - s->residual[i];
    combine(s, first);
}

static void both(state *s, size_t first)
{
    slope(s, first);
    combine(s, first);
}

static void kept(state *s, size_t first)
{
    (void)first;
    sum_slopes(s);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ns per row */
static double time_method(method *call, state *s, const size_t *batches, size_t count)
{
    const size_t passes = (ROWS_TIMED + BATCH * count - 1) / (BATCH * count);
    const double start = now();
    for (size_t pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < count; i++) call(s, batches[i]);
    return (now() - start) / (double)(passes * count * BATCH);
}

static void shuffle(size_t *list, size_t n, rng *r)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = rng_below(r, i), kept_entry = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept_entry;
    }
}

static int bench_table(state *s, const char *place, size_t bytes, size_t d, size_t repeats)
{
    static method *const methods[] = {slope, gradient, both, kept};
    rng r = rng_stream(1, d, RNG_TEST);
    s->stride = (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    const size_t count = bytes / (sizeof(double) * s->stride * BATCH), rows = count * BATCH;
    double *x = new_doubles(rows * s->stride);
    size_t *batches = malloc(count * sizeof *batches);
    const int failed = !x || !batches;
    if (failed) goto done;
    for (size_t i = 0; i < rows * s->stride; i++)
        x[i] = i % s->stride < d ? rng_uniform(&r) : 0;
    memset(s->w, 0, sizeof s->w);
    memset(s->u, 0, sizeof s->u);
    for (size_t j = 0; j < d; j++) s->w[j] = s->u[d - 1 - j] = rng_normal(&r) / (double)d;
    for (size_t i = 0; i < BATCH; i++) s->y[i] = rng_uniform(&r) < 0.5;
    for (size_t i = 0; i < count; i++) batches[i] = i * BATCH;
    s->x = x;
    slope(s, 0);
    for (size_t repeat = 0; repeat < repeats; repeat++) {
        shuffle(batches, count, &r);
        printf("%s,%zu,%zu,%zu", place, rows, d, repeat + 1);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            printf(",%.4f", time_method(methods[m], s, batches, count));
        printf("\n");
    }
done:
    free(batches);
    free(x);
    return failed;
}

int main(int argc, char **argv)
{
    static const size_t dims[] = {5, 20, 80, DIM_MAX};
    const long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 15;
    const size_t repeats = wanted > 0 ? (size_t)wanted : 1;
    state s = {.k = kernels_best()};
    int failed = 0;
    printf("place,rows,d,repeat,slope,gradient,both,kept\n");
    for (size_t i = 0; !failed && i < sizeof dims / sizeof *dims; i++)
        failed = bench_table(&s, "cache", CACHE_BYTES, dims[i], repeats) ||
                 bench_table(&s, "memory", MEMORY_BYTES, dims[i], repeats);
    if (failed) fprintf(stderr, "out of memory\n");
    return failed || s.sink == 0.125 ? EXIT_FAILURE : EXIT_SUCCESS;
}
