/* Costs of sbps on long tables, in counted work: rows per effective sample, passes of set-up
 * through the table, and peak memory as bytes requested by the library, without those inside
 * other libraries. The linker sends its allocations through the functions below (--wrap). No
 * clock is read. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#include <pthread.h>

#define COLUMNS 5
#define SEEDS   4

/* Limits, as factors of the measured costs. */
#define ROWS_MAX 1.3
#define REST_MAX 1.15

#define BLOCK_MIN  ((size_t)1 << 16) /* bytes; smaller blocks are not counted */
#define BLOCKS_MAX 4096

/* Live blocks. Sizes as requested: malloc_usable_size depends on addresses. */
static struct {
    pthread_mutex_t mutex;
    struct {
        void *start;
        size_t bytes;
    } list[BLOCKS_MAX];
    size_t count, bytes, peak;
} live = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *block);

static void *add_block(void *start, size_t bytes)
{
    if (!start || bytes < BLOCK_MIN) return start;
    pthread_mutex_lock(&live.mutex);
    if (live.count == BLOCKS_MAX) abort();
    live.list[live.count].start = start;
    live.list[live.count++].bytes = bytes;
    live.bytes += bytes;
    if (live.peak < live.bytes) live.peak = live.bytes;
    pthread_mutex_unlock(&live.mutex);
    return start;
}

static void remove_block(const void *start)
{
    pthread_mutex_lock(&live.mutex);
    for (size_t i = 0; i < live.count; i++)
        if (live.list[i].start == start) {
            live.bytes -= live.list[i].bytes;
            live.list[i] = live.list[--live.count];
            break;
        }
    pthread_mutex_unlock(&live.mutex);
}

void *__wrap_malloc(size_t bytes)
{
    return add_block(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return add_block(__real_calloc(count, bytes), count * bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    remove_block(block); /* no test here continues after a realloc that failed */
    return add_block(__real_realloc(block, bytes), bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return add_block(__real_aligned_alloc(alignment, bytes), bytes);
}

void __wrap_free(void *block)
{
    remove_block(block);
    __real_free(block);
}

/* ---- costs ---- */

typedef struct {
    double
        rows; /* per effective sample: geometric mean over the parameters, mean over the seeds */
    double passes; /* of set-up */
    double
        memory; /* peak, in tables of n * (COLUMNS + 2) doubles: columns, intercept, target */
} cost;

static sbps_table *make_table(size_t n)
{
    rng random = rng_stream(21, 0, RNG_TEST);
    double *x = __real_malloc(n * COLUMNS * sizeof *x), *y = __real_malloc(n * sizeof *y);
    sbps_options *options = options_of("model=logistic threads=1");
    sbps_error err = {0};
    sbps_table *table;
    if (!x || !y) give_up("table", &(sbps_error){.text = "out of memory"});
    for (size_t i = 0; i < n; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < COLUMNS; j++) {
            x[i * COLUMNS + j] = rng_normal(&random);
            eta += x[i * COLUMNS + j] * (0.4 * (double)j - 0.8);
        }
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-eta));
    }
    live.peak = live.bytes;
    if (sbps_table_copy(n, COLUMNS, x, NULL, y, options, &table, &err) != SBPS_OK)
        give_up("table", &err);
    sbps_options_destroy(options);
    __real_free(x);
    __real_free(y);
    return table;
}

static double effective_samples(const sbps_result *r)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->dim; j++) sum += log(r->ess_mean[j]) / (double)r->dim;
    return exp(sum);
}

static cost cost_of(size_t n)
{
    cost mean = {0};
    size_t before = live.bytes;
    sbps_table *table = make_table(n);
    for (int seed = 1; seed <= SEEDS; seed++) {
        char all[128];
        snprintf(all, sizeof all,
                 "model=logistic sampler=sbps chains=2 threads=1 draws=200 ess=500 seed=%d",
                 seed);
        sbps_options *options = options_of(all);
        sbps_result *r = sample_table(table, options);
        mean.rows += r->info.rows_touched / effective_samples(r) / SEEDS;
        mean.passes += r->info.passes_setup / SEEDS;
        sbps_result_destroy(r);
        sbps_options_destroy(options);
    }
    sbps_table_destroy(table);
    mean.memory = (double)(live.peak - before) / (8.0 * (double)n * (COLUMNS + 2));
    return mean;
}

static void check_cost(size_t n, cost measured)
{
    cost found = cost_of(n);
    printf("%zu rows: %.4g rows per effective sample, set-up %.3f passes, memory %.3f tables\n",
           n, found.rows, found.passes, found.memory);
    CHECK(found.rows < ROWS_MAX * measured.rows);
    CHECK(found.passes < REST_MAX * measured.passes);
    CHECK(found.memory < REST_MAX * measured.memory);
}

TEST(costs_at_a_hundred_thousand_rows)
{
    check_cost(100000, (cost){.rows = 41.9, .passes = 2.40, .memory = 2.92});
}

TEST(costs_at_a_million_rows)
{
    check_cost(1000000, (cost){.rows = 48.9, .passes = 2.33, .memory = 2.32});
}

CHECK_MAIN
