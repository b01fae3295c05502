/* Logistic regression in two dimensions against quadrature. */
#include "check.h"
#include "stat/quadrature.h"

/* The run's bias budget bounds that of the sds, too. */
static void compare(const table *t, const known truth[2], const char *settings)
{
    char all[512];
    const double ess = check_size(1200.0, 2500.0, 2500.0);
    snprintf(all, sizeof all, "model=logistic ess=%g seed=5 %s", ess, settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    CHECK(r->dim == 2 && !strcmp(r->names[0], "intercept"));
    CHECK(r->info.min_ess >= ess);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], r->info.bias_budget);
    CHECK(r->info.bias_estimate < r->info.bias_budget);
    sbps_result_destroy(r);
}

TEST(quadrature_of_a_gaussian_is_exact)
{
    /* no rows: the posterior is the prior */
    table t = {.n = 0, .scale = 0.7};
    known truth[2];
    integrate(&t, truth);
    CHECK_NEAR(truth[0].mean, 0.0, TOL_DIFF);
    CHECK_NEAR(truth[0].sd, 10.0, TOL_DIFF);
    CHECK_NEAR(truth[1].sd, 0.7, TOL_DIFF);
    CHECK_NEAR(truth[1].fourth, 3.0 * pow(0.7, 4.0), TOL_DIFF);
}

static void compare_all(const table *t, const char *const *settings)
{
    known truth[2];
    integrate(t, truth);
    for (; *settings; settings++) compare(t, truth, *settings);
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    static const char *const settings[] = {
        "",
        "metric=none",
        "metric=diagonal",
        "metric=dense",
        "batch-size=40 minibatch=random",
        "batch-size=40 minibatch=window",
        "batch-size=40 minibatch=random control-variate=none",
        "batch-size=40 minibatch=window control-variate=none",
        "batch-size=100",
        NULL};
    table t = simulate(100, -0.5, 1.2);
    compare_all(&t, settings);
    table_free(&t);
}

/* As a year is: with the intercept's prior at x = 0 the slope would be a third of what it
 * is. */
TEST(a_column_far_from_zero_agrees_with_quadrature)
{
    static const char *const settings[] = {"",
                                           "sampler=zigzag",
                                           "sampler=boomerang",
                                           "batch-size=40 control-variate=gradient",
                                           "sampler=hmc",
                                           NULL};
    table t = simulate(500, -0.5, 0.3);
    for (size_t i = 0; i < t.n; i++) t.x[i] += 2000.0;
    t.mean += 2000.0;
    compare_all(&t, settings);
    table_free(&t);
}

TEST(two_thousand_rows_agree_with_quadrature)
{
    static const char *const settings[] = {"",
                                           "metric=none",
                                           "metric=diagonal",
                                           "batch-size=104 minibatch=window",
                                           "control-variate=none",
                                           "control-variate=none metric=none",
                                           "control-variate=none metric=diagonal",
                                           "control-variate=none minibatch=window",
                                           "control-variate=none batch-size=1000",
                                           "batch-size=2000",
                                           NULL};
    table t = simulate(2000, 1.0, -0.8);
    compare_all(&t, settings);
    table_free(&t);
}

/* Of proposals at mean + k sd of the next observation 1 - Phi(k) lie above the band if its
 * sd is that of the batch means: 2.3% at k = 2 for Gaussian noise. A factor of 2 in c^2
 * would give 7.9% or 0.23%. Half the table in a batch: the finite-population factor of eq.
 * (10) counts. */
static double violation_rate(const table *t, const char *settings)
{
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, settings);
    double rate = r->info.violations / r->info.proposals;
    sbps_result_destroy(r);
    return rate;
}

TEST(band_of_two_is_violated_as_often_as_its_noise_predicts)
{
    table t = simulate(2000, 1.0, -0.8);
    /* rows differ in more than Gaussian ways, so a few rows leave the band a little more
     * often */
    double few = violation_rate(&t, "model=logistic band=2 batch-size=104 minibatch=random "
                                    "lack-of-fit=off control-variate=none ess=1000");
    double half = violation_rate(&t, "model=logistic band=2 batch-size=1000 minibatch=random "
                                     "lack-of-fit=off control-variate=none ess=1000");
    printf("violations at k = 2: %.4f of 104 rows, %.4f of 1000\n", few, half);
    CHECK(few > 0.012 && few < 0.06);
    CHECK(half > 0.012 && half < 0.045);
    table_free(&t);
}

CHECK_MAIN
