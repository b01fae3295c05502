/* Whole runs of hmc and nuts against closed forms and quadrature: both are exact, so no bias
 * is allowed for. */
#include "check.h"
#include "stat/gaussian.h"
#include "stat/quadrature.h"

TEST(gaussians_have_their_moments)
{
    static const char *const settings[] = {"sampler=hmc", "sampler=hmc metric=diagonal",
                                           "sampler=nuts", "sampler=nuts metric=diagonal",
                                           NULL};
    check_gaussian(2, 0.0, settings, 0.0);
    check_gaussian(10, 0.5, settings, 0.0);
}

TEST(without_a_metric_the_length_is_found)
{
    static const char *const settings[] = {"sampler=hmc metric=none",
                                           "sampler=nuts metric=none", NULL};
    check_gaussian(2, 0.5, settings, 0.0);
}

static void compare(const table *t, const char *sampler, const char *settings)
{
    char all[512];
    known truth[2];
    integrate(t, truth);
    snprintf(all, sizeof all, "model=logistic ess=4000 seed=5 %s %s", sampler, settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    CHECK(r->info.min_ess >= 4000.0);
    CHECK(r->info.violations == 0.0 && r->info.bias_estimate == 0.0);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], 0.0);
    sbps_result_destroy(r);
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    table t = simulate(100, -0.5, 1.2);
    static const char *const settings[] = {"", "metric=none", "metric=diagonal",
                                           "step-size=0.3"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        compare(&t, "sampler=hmc", settings[i]);
        compare(&t, "sampler=nuts", settings[i]);
    }
    table_free(&t);
}

TEST(few_rows_agree_with_quadrature)
{
    table t = simulate(15, -0.5, 1.2);
    compare(&t, "sampler=hmc", "");
    compare(&t, "sampler=nuts", "");
    table_free(&t);
}

CHECK_MAIN
