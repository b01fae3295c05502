/* The cost of an effective sample on fixed problems: the band, proposals and rows. The control
 * of the bias turns a mistake in the band into a wider band, with correct results; only this
 * test detects it. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#define ROWS    2000
#define COLUMNS 5
#define SEEDS   8

/* Tolerance of measured costs, as a factor: the means over the seeds vary by 3% at most. */
#define BRACKET 1.14

static double x[ROWS][COLUMNS], y[ROWS];

static void make_rows(void)
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

/* The band's width; proposals and rows per effective sample. */
typedef struct {
    double band, proposals, rows;
} cost;

/* Geometric mean over the parameters. */
static double effective_samples(const sbps_result *r)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->dim; j++) sum += log(r->ess_mean[j]) / (double)r->dim;
    return exp(sum);
}

static cost cost_of(const char *settings)
{
    cost mean = {0};
    make_rows();
    for (int seed = 1; seed <= SEEDS; seed++) {
        char all[512];
        snprintf(all, sizeof all, "model=logistic chains=2 draws=200 seed=%d %s", seed,
                 settings);
        sbps_result *r = sample_arrays(ROWS, COLUMNS, x[0], y, all);
        double variance = 1.0 / (SEEDS * effective_samples(r));
        mean.band += r->info.band / SEEDS;
        mean.proposals += variance * (double)r->info.proposals;
        mean.rows += variance * (double)r->info.rows_touched;
        sbps_result_destroy(r);
    }
    return mean;
}

static void check_bracket(const char *what, double found, double want)
{
    printf("%s %.4g, expected %.4g\n", what, found, want);
    CHECK(found > want / BRACKET && found < want * BRACKET);
}

static void check_cost(const char *settings, cost want)
{
    cost found = cost_of(settings);
    check_bracket("band", found.band, want.band);
    check_bracket("proposals", found.proposals, want.proposals);
    check_bracket("rows", found.rows, want.rows);
}

/* Only noise matters here: its pooled variance in units of the curvature. */
TEST(the_cost_of_noise)
{
    check_cost("batch-size=100 control-variate=none minibatch=random ess=400",
               (cost){3.67, 328.0, 33600.0});
}

/* Priors so strong that segments cross many kinks. */
TEST(the_cost_of_kinks)
{
    check_cost("batch-size=50 control-variate=hessian minibatch=window ess=1000 "
               "prior=laplace(0,0.003)",
               (cost){3.03, 20.5, 2360.0});
}

TEST(the_cost_of_segments_with_a_control_variate)
{
    check_cost("batch-size=10 control-variate=hessian minibatch=window band=4 ess=4000",
               (cost){4.0, 4.48, 118.0});
}

TEST(the_cost_of_bounces)
{
    check_cost("sampler=boomerang batch-size=10 control-variate=hessian minibatch=window "
               "band=4 ess=4000",
               (cost){4.0, 0.80, 39.4});
}

CHECK_MAIN
