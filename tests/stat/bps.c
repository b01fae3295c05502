/* Whole runs of bps and noisy-bps against closed forms and quadrature: exact samplers, so no
 * bias is allowed for. */
#include "check.h"
#include "stat/quadrature.h"

static known normal(double variance)
{
    return (known){0.0, sqrt(variance), 3.0 * variance * variance};
}

static sbps_result *sample_density(const char *settings)
{
    sbps_error err = {0};
    sbps_table *none;
    sbps_options *options = options_of(settings);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    sbps_result *r = sample_table(none, options);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
    return r;
}

/* S_ij = s_i s_j rho^|i-j| into a file; s_i grows from 1 to 3. */
static double scale_of(size_t d, size_t i)
{
    return 1.0 + 2.0 * (double)i / (double)(d - 1);
}

static void write_covariance(const char *path, size_t d, double rho)
{
    FILE *file = fopen(path, "w");
    for (size_t j = 0; j < d; j++) fprintf(file, "c%zu%c", j, j + 1 < d ? ',' : '\n');
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            fprintf(file, "%.17g%c",
                    scale_of(d, i) * scale_of(d, j) * pow(rho, fabs((double)i - (double)j)),
                    j + 1 < d ? ',' : '\n');
    fclose(file);
}

static const char *const samplers[] = {"sampler=bps", "sampler=bps metric=none",
                                       "sampler=noisy-bps gradient-noise=0.5",
                                       "sampler=noisy-bps gradient-noise=5 metric=none", NULL};

static void check_gaussian(size_t d, double rho)
{
    char path[256], settings[512];
    const double ess = check_size(1000.0, 2000.0, 2000.0);
    temporary_name(sizeof path, path);
    write_covariance(path, d, rho);
    for (size_t k = 0; samplers[k]; k++) {
        snprintf(settings, sizeof settings, "model=gaussian covariance=%s ess=%g seed=3 %s",
                 path, ess, samplers[k]);
        sbps_result *r = sample_density(settings);
        CHECK(r->dim == d && r->info.min_ess >= ess && r->info.violations == 0.0);
        for (size_t j = 0; j < d; j++)
            check_moments(samplers[k], r, j, normal(pow(scale_of(d, j), 2.0)), 0.0);
        sbps_result_destroy(r);
    }
    unlink(path);
}

TEST(gaussians_have_their_moments)
{
    check_gaussian(2, -0.7);
    check_gaussian(10, 0.5);
}

/* w1 ~ N(0, s^2), w2 = e + w1^2 - s^2 with s = 1.5: central moments 1 + 2 s^4 and 3 + 12 s^4
 * + 60 s^8. Not convex: thinned, and what the bounds missed must be next to nothing. */
TEST(a_banana_has_its_moments)
{
    double s4 = pow(1.5, 4.0);
    known truth[2] = {normal(2.25),
                      {0.0, sqrt(1.0 + 2.0 * s4), 3.0 + 12.0 * s4 + 60.0 * s4 * s4}};
    for (size_t k = 0; samplers[k]; k++) {
        char settings[256];
        snprintf(settings, sizeof settings, "model=banana ess=%g seed=4 %s",
                 check_size(1500.0, 3000.0, 3000.0), samplers[k]);
        sbps_result *r = sample_density(settings);
        CHECK(r->info.violations <= 1e-3 * r->info.proposals);
        CHECK(r->info.bias_estimate < 1e-3);
        for (size_t j = 0; j < 2; j++) check_moments(samplers[k], r, j, truth[j], 1e-3);
        sbps_result_destroy(r);
    }
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    table t = simulate(100, -0.5, 1.2);
    known truth[2];
    integrate(&t, truth);
    for (size_t k = 0; samplers[k]; k++) {
        char settings[256];
        snprintf(settings, sizeof settings, "model=logistic ess=2500 seed=5 %s", samplers[k]);
        sbps_result *r = sample_arrays(t.n, 1, t.x, t.y, settings);
        CHECK(r->info.min_ess >= 2500.0 && r->info.violations == 0.0);
        for (size_t j = 0; j < 2; j++) check_moments(samplers[k], r, j, truth[j], 0.0);
        sbps_result_destroy(r);
    }
    table_free(&t);
}

/* Theorem 1 where nothing is convex: linear regression with sigma. */
TEST(noise_leaves_the_posterior_as_it_is)
{
    double x[60], y[60];
    rng random = rng_stream(6, 0, RNG_TEST);
    for (size_t i = 0; i < 60; i++) {
        x[i] = rng_normal(&random);
        y[i] = 1.0 - 0.5 * x[i] + 0.8 * rng_normal(&random);
    }
    sbps_result *exact = sample_arrays(60, 1, x, y, "model=linear sampler=bps ess=3000");
    sbps_result *noisy =
        sample_arrays(60, 1, x, y, "model=linear sampler=noisy-bps gradient-noise=10 ess=3000");
    CHECK(noisy->info.bounces > exact->info.bounces);
    for (size_t j = 0; j < 3; j++) {
        double square = sqrt(1.0 / exact->ess_square[j] + 1.0 / noisy->ess_square[j]);
        CHECK_Z(noisy->mean[j], exact->mean[j], hypot(exact->mcse[j], noisy->mcse[j]), MAX_Z);
        CHECK_Z(log(noisy->sd[j]), log(exact->sd[j]), 0.8 * square, MAX_Z);
        CHECK(noisy->mcse[j] < 0.05 * noisy->sd[j]);
    }
    sbps_result_destroy(exact);
    sbps_result_destroy(noisy);
}

static void check_refused(const char *settings, const char *message)
{
    sbps_error err = {0};
    sbps_table *none;
    sbps_run *run = NULL;
    sbps_options *options = options_of(settings);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    CHECK(sbps_run_create(none, options, &run, &err) == SBPS_BAD_ARG && !run);
    CHECK(strstr(err.text, message));
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

TEST(noise_is_accepted_by_the_sampler_that_implements_it)
{
    check_refused("model=banana sampler=bps gradient-noise=1", "noisy-bps is bps with it");
    check_refused("model=banana sampler=noisy-bps", "above 0");
}

CHECK_MAIN
