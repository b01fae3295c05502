/* Whole runs of boomerang against closed forms and quadrature. */
#include "check.h"
#include "stat/bias.h"
#include "stat/gaussian.h"
#include "stat/quadrature.h"

#define BUDGET 0.02 /* the default: what the bias of sds is allowed, which no column states */

TEST(gaussians_have_their_moments)
{
    /* with the dense metric the reference is the posterior itself: no bounce at all */
    static const char *const settings[] = {"sampler=boomerang",
                                           "sampler=boomerang metric=diagonal", NULL};
    check_gaussian(2, 0.5, settings, BUDGET);
    check_gaussian(10, 0.1, settings, BUDGET);
}

static sbps_result *run(const table *t, double ess, const char *settings)
{
    char all[512];
    snprintf(all, sizeof all, "model=logistic sampler=boomerang seed=5 ess=%g %s", ess,
             settings);
    return sample_arrays(t->n, 1, t->x, t->y, all);
}

static void compare(const table *t, const char *settings)
{
    known truth[2];
    integrate(t, truth);
    sbps_result *r = run(t, 2500.0, settings);
    CHECK(r->info.min_ess >= 2500.0 && r->info.bounces > 0.0);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], BUDGET);
    CHECK(r->info.bias_estimate < r->info.bias_budget);
    sbps_result_destroy(r);
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    static const char *const settings[] = {"",
                                           "metric=none",
                                           "metric=diagonal",
                                           "batch-size=40 minibatch=random",
                                           "batch-size=40 minibatch=window",
                                           "batch-size=40 control-variate=none",
                                           "refresh-rate=2",
                                           NULL};
    table t = simulate(100, -0.5, 1.2);
    for (size_t i = 0; settings[i]; i++) compare(&t, settings[i]);
    table_free(&t);
}

TEST(two_thousand_rows_agree_with_quadrature)
{
    table t = simulate(2000, 1.0, -0.8);
    compare(&t, "");
    compare(&t, "metric=diagonal");
    compare(&t, "control-variate=none");
    table_free(&t);
}

/* With a band so narrow that a quarter of the proposals lie above it, what is stated is
 * what the mean is off by. It has noise of its own: a few seeds are taken. */
TEST(stated_bias_is_that_of_a_narrow_band)
{
    const double seeds = 12.0;
    table t = simulate(100, -0.5, 1.2);
    known truth[2];
    double off = 0.0, stated = 0.0, variance = 0.0, square = 0.0;
    integrate(&t, truth);
    for (int seed = 1; seed <= (int)seeds; seed++) {
        char settings[128];
        snprintf(settings, sizeof settings,
                 "seed=%d band=0.2 batch-size=20 control-variate=none", seed);
        sbps_result *r = run(&t, 40000.0, settings);
        off += (r->mean[1] - truth[1].mean) / truth[1].sd / seeds;
        stated += r->bias[1] / seeds;
        square += r->bias[1] * r->bias[1] / seeds;
        variance += pow(r->mcse[1] / truth[1].sd / seeds, 2.0);
        sbps_result_destroy(r);
    }
    double scatter = (square - stated * stated) / (seeds - 1.0);
    CHECK(off < -0.05);
    CHECK_Z(stated, off, sqrt(scatter + variance), 4.0);
    CHECK(sqrt(scatter) < 0.25 * fabs(off)); /* twice or half of it would be detected */
    table_free(&t);
}

CHECK_MAIN
