/* Whole runs of importance against quadrature: the ESS that is stated is that of the
 * weights, posteriors of another shape are refused, and k-hat is in the result. */
#include "check.h"
#include "stat/quadrature.h"

static void compare(const table *t, const char *settings)
{
    char all[512];
    known truth[2];
    integrate(t, truth);
    snprintf(all, sizeof all, "model=logistic sampler=importance seed=8 ess=20000 %s",
             settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    CHECK(r->info.min_ess >= 20000.0 && r->info.pareto_k < 0.7);
    CHECK(r->info.rows_touched >= (double)t->n * r->info.min_ess);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], 0.0);
    sbps_result_destroy(r);
}

TEST(weighted_draws_agree_with_quadrature)
{
    table t = simulate(100, -0.5, 1.2);
    compare(&t, "");
    compare(&t, "metric=diagonal");
    table_free(&t);
    t = simulate(25, -0.5, 1.2);
    compare(&t, "");
    table_free(&t);
}

#define SEEDS 100

/* Errors of many short runs over their own standard errors: their mean square is 1 where the
 * ESS is right. A table of few rows has uneven weights; counted as draws the errors would be
 * half as large again. */
TEST(stated_errors_are_those_of_the_weights)
{
    known truth[2];
    double squares = 0.0;
    table t = simulate(25, -0.5, 1.2);
    integrate(&t, truth);
    for (int seed = 1; seed <= SEEDS; seed++) {
        char all[256];
        snprintf(all, sizeof all, "model=logistic sampler=importance chains=4 ess=400 seed=%d",
                 seed);
        sbps_result *r = sample_arrays(t.n, 1, t.x, t.y, all);
        for (size_t j = 0; j < 2; j++)
            squares += pow((r->mean[j] - truth[j].mean) / r->mcse[j], 2.0) / (2.0 * SEEDS);
        sbps_result_destroy(r);
    }
    printf("mean square of errors over stated ones: %.3f\n", squares);
    CHECK(squares > 0.6 && squares < 1.5);
    table_free(&t);
}

TEST(a_posterior_of_another_shape_is_refused)
{
    sbps_error err = {0};
    sbps_table *none = NULL;
    sbps_run *run = NULL;
    bool finished = false;
    sbps_status status = SBPS_OK;
    sbps_options *options = options_of("model=banana sampler=importance seed=1");
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    if (sbps_run_create(none, options, &run, &err) != SBPS_OK) give_up("run", &err);
    while (!finished && status == SBPS_OK) status = sbps_run_advance(run, &finished, &err);
    CHECK(status == SBPS_DIVERGED);
    CHECK(strstr(err.text, "importance: the Pareto k-hat of the importance weights is "));
    CHECK(strstr(err.text, "use hmc or sbps"));
    printf("%s\n", err.text);
    sbps_run_destroy(run);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

CHECK_MAIN
