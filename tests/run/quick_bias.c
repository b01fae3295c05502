/* The bias in progress reports, from the first-order response at the mode, is near the bias
 * that the finished run states. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#define ROWS    2000
#define COLUMNS 5
#define SEEDS   4
#define FACTOR                                                                                 \
    1.8 /* largest relative difference; without the factor dim = 6 it would be much larger */

static void make_rows(double x[ROWS][COLUMNS], double y[ROWS])
{
    rng random = rng_stream(21, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < COLUMNS; j++) {
            x[i][j] = rng_normal(&random);
            eta += x[i][j] * (0.4 * (double)j - 0.8);
        }
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-eta));
    }
}

typedef struct {
    double reported, stated;
} two_biases;

static two_biases biases_of(const sbps_table *table, const sbps_options *options)
{
    sbps_error err = {0};
    sbps_run *run;
    sbps_result *r;
    sbps_progress p = {.struct_size = sizeof p};
    bool finished = false;
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up("run", &err);
    while (!finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    sbps_run_progress(run, &p);
    if (sbps_result_from_run(run, &r, &err) != SBPS_OK) give_up("result", &err);
    two_biases out = {p.bias_estimate, r->info.bias_estimate};
    sbps_result_destroy(r);
    sbps_run_destroy(run);
    return out;
}

/* A narrow band: the bias is large and well known. */
TEST(progress_reports_nearly_the_stated_bias)
{
    static double x[ROWS][COLUMNS], y[ROWS];
    make_rows(x, y);
    for (int seed = 1; seed <= SEEDS; seed++) {
        char settings[256];
        sbps_error err = {0};
        sbps_table *table;
        snprintf(settings, sizeof settings,
                 "model=logistic batch-size=50 control-variate=none minibatch=random ess=400 "
                 "band=2 seed=%d",
                 seed);
        sbps_options *options = options_of(settings);
        REQUIRE(sbps_table_copy(ROWS, COLUMNS, x[0], NULL, y, options, &table, &err) ==
                SBPS_OK);
        two_biases b = biases_of(table, options);
        printf("seed %d: reported %.4f, stated %.4f\n", seed, b.reported, b.stated);
        CHECK(b.stated > 0.05);
        CHECK(b.reported < FACTOR * b.stated && b.reported * FACTOR > b.stated);
        sbps_table_destroy(table);
        sbps_options_destroy(options);
    }
}

CHECK_MAIN
