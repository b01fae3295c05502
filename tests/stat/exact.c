/* The samplers that thin under exact bounds, against quadrature: no bias is allowed them,
 * and no proposal may ever lie above its bound. */
#include "check.h"
#include "stat/quadrature.h"

#include "sampler/core/sampler.h"

static void compare(const table *t, const known truth[2], const char *name, double ess,
                    const char *settings)
{
    char all[512];
    snprintf(all, sizeof all, "model=logistic seed=7 sampler=%s ess=%g %s", name, ess,
             settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    CHECK(r->info.min_ess >= ess);
    for (size_t j = 0; j < 2; j++) check_moments(all, r, j, truth[j], 0.0);
    CHECK(r->info.violations == 0.0 && r->info.missing_bounces == 0.0);
    CHECK(r->info.bias_estimate == 0.0);
    sbps_result_destroy(r);
}

/* Runs every sampler with exact bounds with each of the settings. */
static void compare_all(const table *t, double ess, const char *const *settings)
{
    known truth[2];
    size_t found = 0;
    integrate(t, truth);
    for (size_t k = 0; sampler_kinds[k]; k++) {
        if (!sampler_kinds[k]->bounded) continue;
        found++;
        for (const char *const *s = settings; *s; s++)
            compare(t, truth, sampler_kinds[k]->name, ess, *s);
    }
    CHECK(found >= 5);
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    static const char *const settings[] = {"metric=dense", "metric=diagonal", "metric=none",
                                           NULL};
    table t = simulate(100, -0.5, 1.2);
    compare_all(&t, check_size(800.0, 2000.0, 2000.0), settings);
    table_free(&t);
}

TEST(zigzag_may_be_refreshed)
{
    known truth[2];
    table t = simulate(100, -0.5, 1.2);
    integrate(&t, truth);
    compare(&t, truth, "zigzag", 2000.0, "refresh-rate=1");
    compare(&t, truth, "zigzag-ss", 1000.0, "refresh-rate=1");
    table_free(&t);
}

/* Supp. H is for any n. */
TEST(lipsbps_takes_batches_of_any_size)
{
    known truth[2];
    table t = simulate(100, -0.5, 1.2);
    integrate(&t, truth);
    compare(&t, truth, "lipsbps", check_size(800.0, 2000.0, 2000.0),
            "batch-size=5 minibatch=window");
    compare(&t, truth, "lipsbps", check_size(800.0, 2000.0, 2000.0),
            "batch-size=20 minibatch=random");
    compare(&t, truth, "lipsbps", check_size(800.0, 2000.0, 2000.0), "batch-size=100");
    table_free(&t);
}

/* A strong normal prior makes the bounds grow along the segment; the others only have
 * bounded slopes. */
static void with_prior(const char *text)
{
    char setting[128];
    const char *settings[] = {setting, NULL};
    prior other;
    table t = simulate(40, -0.5, 1.2);
    REQUIRE(prior_parse(text, &other, NULL) == SBPS_OK);
    t.other = &other;
    snprintf(setting, sizeof setting, "prior=%s prior-intercept=%s", text, text);
    compare_all(&t, check_size(800.0, 1500.0, 1500.0), settings);
    table_free(&t);
}

TEST(priors_count_along_the_segment)
{
    with_prior("normal(0.3,0.3)");
    with_prior("normal(0.3,0.005)");
    with_prior("laplace(0.2,0.5)");
    with_prior("student_t(3,0.5,0.4)");
    with_prior("cauchy(-0.2,0.6)");
}

/* ---- refusals ---- */

static void refused(const char *settings, const char *sentence)
{
    static const double x[] = {0.1, -0.4, 1.2, 0.3, -0.9, 0.6}, y[] = {0, 1, 0, 1, 1, 0};
    sbps_options *options = options_of(settings);
    sbps_table *of = NULL;
    sbps_run *run = NULL;
    sbps_error err = {0};
    CHECK(sbps_table_copy(6, 1, x, NULL, y, options, &of, &err) == SBPS_OK);
    CHECK(sbps_run_create(of, options, &run, &err) == SBPS_BAD_ARG);
    if (strcmp(err.text, sentence)) {
        printf("%s: '%s', expected '%s'\n", settings, err.text, sentence);
        check_failures++;
    }
    sbps_run_destroy(run);
    sbps_table_destroy(of);
    sbps_options_destroy(options);
}

TEST(unsupported_cases_are_refused_with_a_message)
{
    refused(
        "model=linear sampler=zigzag-ss",
        "--sampler: zigzag-ss needs an exact bound on every row's slope, which logistic has "
        "and linear has not; sbps takes any model");
    refused(
        "model=logistic sampler=zigzag-cv batch-size=4",
        "--batch-size: zigzag-cv uses one row at a time; sbps and lipsbps use mini-batches");
    refused("model=logistic sampler=zigzag batch-size=4",
            "--batch-size: zigzag uses every row; sbps uses mini-batches");
    refused("model=logistic sampler=sbps batch-size=1",
            "--batch-size: sbps needs at least 2 rows, to estimate the variance; lipsbps "
            "accepts 1");
    refused("model=logistic sampler=lipsbps control-variate=gradient",
            "--control-variate: lipsbps requires 'none'; sbps accepts others");
    refused("model=logistic sampler=zigzag-cv control-variate=none",
            "--control-variate: zigzag-cv requires 'gradient'; sbps accepts others");
    refused("model=logistic sampler=local-bps gradient-noise=1",
            "--gradient-noise: local-bps needs bounded gradients, and added noise is "
            "unbounded; use sbps");
}

CHECK_MAIN
