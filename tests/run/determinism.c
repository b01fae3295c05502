/* The same seed gives the same bits: on any number of threads, in any instruction set. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#include <stdlib.h>

#define ROWS    700
#define COLUMNS 5

static void make_rows(double x[ROWS][COLUMNS], double y[ROWS], bool logistic)
{
    rng random = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < COLUMNS; j++) {
            x[i][j] = rng_normal(&random);
            eta += x[i][j] * ((double)j - 1.5);
        }
        y[i] = logistic ? rng_uniform(&random) < 1.0 / (1.0 + exp(-eta))
                        : eta + rng_normal(&random);
    }
}

static sbps_result *sample(const char *model, const char *settings)
{
    double x[ROWS][COLUMNS], y[ROWS];
    char all[256];
    make_rows(x, y, !strcmp(model, "logistic"));
    /* several epochs of warm-up and several rounds after it */
    snprintf(all, sizeof all, "model=%s warmup=6000 epochs=600 draws=50 %s", model, settings);
    return sample_arrays(ROWS, COLUMNS, x[0], y, all);
}

static bool same_bits(size_t n, const double *a, const double *b)
{
    return !memcmp(a, b, n * sizeof *a);
}

static bool same_draws(const sbps_result *a, const sbps_result *b)
{
    size_t n = a->chains * a->draws;
    return a->chains == b->chains && a->draws == b->draws && a->dim == b->dim &&
           same_bits(n * a->dim, a->w, b->w) && same_bits(n, a->proposals, b->proposals) &&
           same_bits(n, a->bounces, b->bounces) && same_bits(n, a->missing, b->missing) &&
           same_bits(n, a->k, b->k) && same_bits(n, a->potential, b->potential) &&
           same_bits(n, a->potential_sd, b->potential_sd);
}

static bool same_path(const sbps_result *a, const sbps_result *b)
{
    const result_info *p = &a->info, *q = &b->info;
    return same_bits(a->dim, a->mean, b->mean) && same_bits(a->dim, a->sd, b->sd) &&
           same_bits(a->dim, a->mcse, b->mcse) && same_bits(a->dim, a->bias, b->bias) &&
           same_bits(a->dim, a->ess_mean, b->ess_mean) &&
           same_bits(a->dim, a->ess_square, b->ess_square) && p->proposals == q->proposals &&
           p->bounces == q->bounces && p->refreshments == q->refreshments &&
           p->violations == q->violations &&
           same_bits(1, &p->missing_bounces, &q->missing_bounces) &&
           p->rows_touched == q->rows_touched && same_bits(1, &p->band, &q->band) &&
           p->min_ess == q->min_ess && same_bits(1, &p->bias_estimate, &q->bias_estimate);
}

static void check_same(const char *model, const char *settings, const char *other, bool same)
{
    sbps_result *a = sample(model, settings), *b = sample(model, other);
    bool equal = same_draws(a, b) && same_path(a, b);
    if (equal != same) {
        printf("%s: '%s' and '%s' %s\n", model, settings, other,
               same ? "differ" : "are the same");
        check_failures++;
    }
    sbps_result_destroy(a);
    sbps_result_destroy(b);
}

TEST(same_seed_gives_the_same_bits_on_any_thread_count)
{
    check_same("logistic", "seed=1 threads=1", "seed=1 threads=2", true);
    check_same("logistic", "seed=1 threads=1", "seed=1 threads=4", true);
    check_same("linear", "seed=1 threads=1", "seed=1 threads=4", true);
    check_same("logistic", "paper threads=1", "paper threads=3", true);
    check_same("logistic", "minibatch=window threads=1", "minibatch=window threads=4", true);
    check_same("logistic", "chains=5 metric=diagonal threads=1",
               "chains=5 metric=diagonal threads=4", true);
}

/* Three parts of 16,384 rows: their sums are distributed over threads. */
static sbps_result *sample_long(const char *settings)
{
    enum { LONG = 40000 };
    rng random = rng_stream(9, 0, RNG_TEST);
    double *x = malloc((COLUMNS + 1) * LONG * sizeof *x), *y = x + COLUMNS * LONG;
    for (size_t i = 0; i < LONG; i++) {
        double eta = -1.0;
        for (size_t j = 0; j < COLUMNS; j++)
            eta += (x[i * COLUMNS + j] = rng_normal(&random)) * ((double)j - 1.5);
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-eta));
    }
    sbps_result *r = sample_arrays(LONG, COLUMNS, x, y, settings);
    free(x);
    return r;
}

TEST(a_long_table_has_the_same_bits_on_any_thread_count_and_is_read_three_times)
{
    static const char *const settings[] = {
        "model=logistic warmup=2000 epochs=3 draws=20 threads=%d",
        "model=logistic sampler=hmc warmup=4 epochs=40 draws=10 chains=2 threads=%d"};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const int threads[] = {1, 3, 16};
        sbps_result *with[3];
        for (size_t i = 0; i < 3; i++) {
            char all[160];
            snprintf(all, sizeof all, settings[k], threads[i]);
            with[i] = sample_long(all);
            CHECK(same_draws(with[0], with[i]) && same_path(with[0], with[i]));
            CHECK(with[i]->info.passes_setup == with[0]->info.passes_setup);
        }
        CHECK(k > 0 || with[0]->info.passes_setup <= 3.0);
        for (size_t i = 0; i < 3; i++) sbps_result_destroy(with[i]);
    }
}

TEST(another_seed_gives_another_path)
{
    check_same("logistic", "seed=1", "seed=2", false);
    check_same("linear", "seed=1", "seed=2", false);
}

/* Kernels are chosen when a run is created, by the environment variable SBPS_ISA. If the
 * processor lacks them, the next best are used, and the test is trivial. */
TEST(every_instruction_set_gives_the_same_bits)
{
    static const char *const sets[] = {"avx2", "avx512"}, *const models[] = {"logistic",
                                                                             "linear"};
    for (size_t m = 0; m < 2; m++) {
        setenv("SBPS_ISA", "scalar", 1);
        sbps_result *a = sample(models[m], "");
        for (size_t i = 0; i < 2; i++) {
            setenv("SBPS_ISA", sets[i], 1);
            sbps_result *b = sample(models[m], "");
            CHECK(same_draws(a, b) && same_path(a, b));
            sbps_result_destroy(b);
        }
        unsetenv("SBPS_ISA");
        sbps_result_destroy(a);
    }
}

/* Draws do not depend on calls for progress and results. */
TEST(progress_and_results_do_not_change_the_path)
{
    double x[ROWS][COLUMNS], y[ROWS];
    sbps_error err = {0};
    sbps_table *table;
    sbps_run *run;
    sbps_result *a = sample("logistic", "seed=4"), *b;
    sbps_options *options = options_of("model=logistic warmup=6000 epochs=600 draws=50 seed=4");
    make_rows(x, y, true);
    REQUIRE(sbps_table_copy(ROWS, COLUMNS, x[0], NULL, y, options, &table, &err) == SBPS_OK);
    REQUIRE(sbps_run_create(table, options, &run, &err) == SBPS_OK);
    size_t rounds = 0;
    for (bool finished = false; !finished; rounds++) {
        sbps_progress p = {.struct_size = sizeof p};
        REQUIRE(sbps_run_advance(run, &finished, &err) == SBPS_OK);
        sbps_run_progress(run, &p);
        REQUIRE(sbps_result_from_run(run, &b, &err) == SBPS_OK);
        if (!finished) sbps_result_destroy(b);
    }
    CHECK(rounds >= 6); /* in warm-up and after it */
    CHECK(same_draws(a, b) && same_path(a, b));
    sbps_result_destroy(a);
    sbps_result_destroy(b);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

CHECK_MAIN
