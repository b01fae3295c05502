/* Times of the kernels, one line a case:
 *
 *   name  isa  N  n  d  ns per call  ns per row  GB/s
 *
 * N is the rows of the table, n those of a call, d their doubles; GB/s counts the table's
 * bytes read. Windows and rows start at random places drawn beforehand, so N = 1000 runs
 * from cache and N = 1e6 (160 MB) from memory. `read` adds up the same windows: what memory
 * allows. `slopes` is what a proposal does with its window: both products, sigmoids, sums.
 * With `ahead` the next window is prefetched. Times are CPU times of this thread, the best
 * of REPEATS.
 *
 * A last line a table says which share of the bandwidth of `read` the slopes reach, reading
 * and slopes taking turns so that a shared machine disturbs both alike: its median over
 * REPEATS. */
#include "linalg/kernels.h"
#include "core/memory.h"
#include "core/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH       104
#define DIM         20
#define CALLS       4096
#define REPEATS     25
#define AHEAD_LINES 16 /* the hardware follows a window once it is begun */

typedef struct {
    const kernels *k;
    const double *x;
    const size_t *starts, *rows; /* CALLS windows; CALLS batches of rows */
    double p[DIM], q[DIM], eta[BATCH], deta[BATCH], weights[BATCH], left[BATCH];
    rng r;
    double sink; /* keeps results alive */
} state;

typedef struct {
    const char *name;
    void (*call)(state *s, size_t i);
    size_t rows, doubles; /* per call; doubles 0 where the table is not read */
} bench_case;

static void window_pair(state *s, size_t i)
{
    s->k->row_products(s->x, DIM, NULL, s->starts[i], BATCH, s->p, s->q, s->eta, s->deta);
}

static void window_single(state *s, size_t i)
{
    s->k->row_products(s->x, DIM, NULL, s->starts[i], BATCH, s->p, NULL, s->eta, NULL);
}

static void gathered_pair(state *s, size_t i)
{
    s->k->row_products(s->x, DIM, s->rows + i * BATCH, 0, BATCH, s->p, s->q, s->eta, s->deta);
}

static void window_combine(state *s, size_t i)
{
    s->k->row_combine(s->x, DIM, NULL, s->starts[i], BATCH, s->weights, s->deta);
}

/* Eight sums of two, so that additions do not set the pace. */
static void window_read(state *s, size_t i)
{
    typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
    const two *x = (const two *)(s->x + s->starts[i] * DIM);
    two sum[8] = {{0}};
    for (size_t j = 0; j + 8 <= BATCH * DIM / 2; j += 8) {
#pragma GCC unroll 8
        for (size_t l = 0; l < 8; l++) sum[l] += x[j + l];
    }
    for (size_t l = 0; l < 8; l++) s->sink += sum[l][0] + sum[l][1];
}

static void evaluate(const state *s, size_t i)
{
    const double *next = s->x + s->starts[(i + 1) % CALLS] * DIM;
    for (size_t j = 0; j < AHEAD_LINES; j++) __builtin_prefetch(next + 8 * j);
}

static void window_slopes(state *s, size_t i)
{
    const slope_terms terms = {.t = 0.01, .base = s->weights, .curvature = s->weights};
    double sums[2];
    s->k->row_products(s->x, DIM, NULL, s->starts[i], BATCH, s->p, s->q, s->eta, s->deta);
    s->k->slope_sums[MEAN_SIGMOID](BATCH, &terms, s->eta, s->deta, s->left, sums);
    s->sink += sums[0];
}

static void read_ahead(state *s, size_t i)
{
    evaluate(s, i);
    window_read(s, i);
}

static void slopes_ahead(state *s, size_t i)
{
    evaluate(s, i);
    window_slopes(s, i);
}

static void exp_batch(state *s, size_t i)
{
    (void)i;
    s->k->exp(BATCH, s->weights, s->eta);
}

static void sigmoid_batch(state *s, size_t i)
{
    (void)i;
    s->k->sigmoid(BATCH, s->weights, s->eta);
}

static void sums_batch(state *s, size_t i)
{
    (void)i;
    s->k->sum_squares(BATCH, s->weights, s->sink, s->eta);
}

static void philox_block(state *s, size_t i)
{
    (void)i;
    s->sink += (double)(rng_word(&s->r) ^ rng_word(&s->r) ^ rng_word(&s->r) ^ rng_word(&s->r));
}

static const bench_case on_tables[] = {
    {"read", window_read, BATCH, BATCH *DIM},
    {"read, ahead", read_ahead, BATCH, BATCH *DIM},
    {"slopes", window_slopes, BATCH, BATCH *DIM},
    {"slopes, ahead", slopes_ahead, BATCH, BATCH *DIM},
    {"row_products window", window_pair, BATCH, BATCH *DIM},
    {"row_products window, p only", window_single, BATCH, BATCH *DIM},
    {"row_products gathered", gathered_pair, BATCH, BATCH *DIM},
    {"row_combine window", window_combine, BATCH, BATCH *DIM},
};

static const bench_case alone[] = {
    {"exp", exp_batch, BATCH, 0},
    {"sigmoid", sigmoid_batch, BATCH, 0},
    {"sum_squares", sums_batch, BATCH, 0},
    {"philox block", philox_block, 1, 0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ns a call */
static double time_once(void (*call)(state *s, size_t i), state *s)
{
    const double start = now();
    for (size_t i = 0; i < CALLS; i++) call(s, i);
    return (now() - start) / CALLS;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(state *s, const char *name, void (*read)(state *s, size_t i),
                    size_t table_rows)
{
    double fraction[REPEATS];
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        const double reading = time_once(read, s);
        fraction[repeat] = reading / time_once(slopes_ahead, s);
    }
    qsort(fraction, REPEATS, sizeof *fraction, by_size);
    printf("%-28s %-7s %8zu %4d %3d %8.0f%% of `%s`\n", "slopes, ahead: bandwidth", s->k->isa,
           table_rows, BATCH, DIM, 100 * fraction[REPEATS / 2], name);
}

static void time_case(const bench_case *c, state *s, size_t table_rows)
{
    double best = 1e300;
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        const double took = time_once(c->call, s);
        if (took < best) best = took;
    }
    printf("%-28s %-7s %8zu %4zu %3d %9.1f %7.2f", c->name, s->k->isa, table_rows, c->rows, DIM,
           best, best / (double)c->rows);
    if (c->doubles)
        printf(" %7.1f\n", (double)(c->doubles * sizeof(double)) / best);
    else
        printf("       -\n");
}

static int bench_table(state *s, size_t table_rows)
{
    double *x = new_doubles(table_rows * DIM);
    size_t *starts = malloc(CALLS * sizeof *starts),
           *rows = malloc(CALLS * BATCH * sizeof *rows);
    int failed = !x || !starts || !rows;
    if (failed) goto done;
    for (size_t i = 0; i < table_rows * DIM; i++) x[i] = rng_uniform(&s->r);
    for (size_t i = 0; i < CALLS; i++) starts[i] = rng_below(&s->r, table_rows - BATCH + 1);
    for (size_t i = 0; i < CALLS * BATCH; i++) rows[i] = rng_below(&s->r, table_rows);
    s->x = x;
    s->starts = starts;
    s->rows = rows;
    for (size_t v = 0; (s->k = kernels_at(v)); v++)
        for (size_t c = 0; c < sizeof on_tables / sizeof *on_tables; c++)
            time_case(&on_tables[c], s, table_rows);
    s->k = kernels_best();
    compare(s, "read", window_read, table_rows);
    compare(s, "read, ahead", read_ahead, table_rows);
done:
    free(rows);
    free(starts);
    free(x);
    return failed;
}

int main(void)
{
    state s = {.r = rng_stream(1, 0, RNG_TEST)};
    for (size_t j = 0; j < DIM; j++) s.p[j] = s.q[DIM - 1 - j] = rng_normal(&s.r);
    for (size_t i = 0; i < BATCH; i++) s.weights[i] = rng_normal(&s.r);
    printf("%-28s %-7s %8s %4s %3s %9s %7s %7s\n", "name", "isa", "N", "n", "d", "ns/call",
           "ns/row", "GB/s");
    for (size_t v = 0; (s.k = kernels_at(v)); v++)
        for (size_t c = 0; c < sizeof alone / sizeof *alone; c++) time_case(&alone[c], &s, 0);
    int failed = bench_table(&s, 1000) || bench_table(&s, 1000000);
    if (failed) fprintf(stderr, "out of memory\n");
    return failed || s.sink == 0.125 ? EXIT_FAILURE : EXIT_SUCCESS;
}
