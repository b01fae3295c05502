/* psbps on Gaussians whose axes are the coordinates' and on correlated ones: correct moments, a
 * metric with the right scales, and no stated bias if the metric never stops adapting. */
#include "check.h"
#include "stat/gaussian.h"

#include "inference/run/run.h"

TEST(psbps_samples_gaussians_of_any_scale_correctly)
{
    const char *settings[] = {"sampler=psbps", "metric=adaptive",
                              "sampler=psbps gradient-noise=0.1", NULL};
    check_gaussian(2, 0.0, settings, 0.02);
    check_gaussian(5, 0.3, settings, 0.02);
}

/* A is the same in every chain once it is frozen, has mean 1 and falls as the gradient's
 * scale. */
TEST(the_frozen_metric_is_shared_and_has_the_scales)
{
    char path[256], all[512];
    sbps_error err = {0};
    sbps_table *none;
    sbps_run *run;
    bool finished = false;
    const size_t d = 5;
    temporary_name(sizeof path, path);
    write_gaussian(path, d, 0.0);
    snprintf(all, sizeof all, "model=gaussian covariance=%s ess=200 sampler=psbps", path);
    sbps_options *options = options_of(all);
    REQUIRE(sbps_table_none(&none, &err) == SBPS_OK);
    REQUIRE(sbps_run_create(none, options, &run, &err) == SBPS_OK);
    while (!finished) REQUIRE(sbps_run_advance(run, &finished, &err) == SBPS_OK);
    const double *a = run->chains[0].s.a->data;
    double sum = 0.0;
    for (size_t j = 0; j < d; j++) {
        sum += a[j];
        /* E g_j^2 = 1/s_j^2 up to the noise of some hundred gradients */
        if (j > 0)
            CHECK(fabs(log(a[j] / a[j - 1] * gaussian_sd(d, j - 1) / gaussian_sd(d, j))) < 0.7);
        for (size_t c = 1; c < run->chain_count; c++)
            CHECK(run->chains[c].s.a->data[j] == a[j]);
    }
    CHECK_NEAR(sum, (double)d, TOL_SUM);
    CHECK(memcmp(a, run->geometry.a->data, d * sizeof *a)); /* it has learned */
    sbps_run_destroy(run);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
    unlink(path);
}

TEST(a_metric_that_never_freezes_states_no_bias)
{
    sbps_error err = {0};
    sbps_table *none;
    sbps_options *options = options_of("model=banana ess=200 sampler=psbps adapt-forever=true");
    REQUIRE(sbps_table_none(&none, &err) == SBPS_OK);
    sbps_result *r = sample_table(none, options);
    CHECK(isnan(r->info.bias_estimate) && isnan(r->bias[0]) && isnan(r->info.eta));
    sbps_result_destroy(r);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

CHECK_MAIN
