/* Runs over groups: the bias that is stated of standard deviations and correlations, and the
 * sampler that auto takes. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#define EACH 6 /* rows of a group */

/* Groups with an intercept and a slope of their own. */
static void write_table(size_t groups, const double sd[2], char path[256])
{
    temporary_name(256, path);
    FILE *f = fopen(path, "w");
    rng r = rng_stream(5, groups, RNG_TEST);
    fprintf(f, "y,x,g\n");
    for (size_t g = 0; g < groups; g++) {
        double u = sd[0] * rng_normal(&r), v = sd[1] * rng_normal(&r);
        for (size_t i = 0; i < EACH; i++) {
            double x = rng_normal(&r), eta = -0.3 + u + (0.5 + v) * x;
            fprintf(f, "%d,%.5f,a%zu\n", rng_uniform(&r) < 1.0 / (1.0 + exp(-eta)), x, g);
        }
    }
    fclose(f);
}

static sbps_result *sample(const char *path, const char *formula, const char *settings)
{
    sbps_error err = {0};
    sbps_table *table = NULL;
    sbps_options *options = options_of(settings);
    if (!strstr(settings, "sampler=")) sbps_options_set(options, "sampler", "auto", &err);
    if (sbps_options_set(options, "formula", formula, &err) != SBPS_OK ||
        sbps_options_set(options, "family", "bernoulli", &err) != SBPS_OK ||
        sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK)
        give_up(path, &err);
    sbps_result *r = sample_table(table, options);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

/* ---- stated bias ---- */

#define SEEDS     3
#define INTERCEPT "y ~ x + (1 | g)"
/* Little is taken out of the noise and the band is narrow: the bias is large, and well
 * known. */
#define NARROW "sampler=boomerang control-variate=gradient batch-size=4 band=0.3 ess=1500 "

static size_t sd_of_groups(const sbps_result *r)
{
    size_t j = 0;
    while (strncmp(r->names[j], "sd_", 3)) j++;
    return j;
}

/* In posterior sds. */
static double off(const sbps_result *r, const sbps_result *truth, size_t j)
{
    return (r->mean[j] - truth->mean[j]) / truth->sd[j];
}

static double error(const sbps_result *r, const sbps_result *truth, size_t j)
{
    return hypot(r->mcse[j], truth->mcse[j]) / truth->sd[j];
}

static void check_default(const char *path, const sbps_result *truth)
{
    sbps_result *r = sample(path, INTERCEPT, "ess=1000 seed=1");
    for (size_t j = 0; j < r->dim; j++) {
        printf("%s: off by %+.4f sd, stated %+.4f, error %.4f\n", r->names[j], off(r, truth, j),
               r->bias[j], error(r, truth, j));
        CHECK(fabs(off(r, truth, j)) <= fabs(r->bias[j]) + 3.0 * error(r, truth, j));
    }
    sbps_result_destroy(r);
}

static void check_narrow(const char *path, const sbps_result *truth)
{
    double found = 0.0, stated = 0.0, noise = 0.0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        char settings[128];
        snprintf(settings, sizeof settings, NARROW "seed=%d", seed);
        sbps_result *r = sample(path, INTERCEPT, settings);
        size_t j = sd_of_groups(r);
        found += off(r, truth, j) / SEEDS;
        stated += r->bias[j] / SEEDS;
        noise += pow(r->mcse[j] / truth->sd[j], 2.0) / (SEEDS * SEEDS);
        if (seed == SEEDS) noise = hypot(sqrt(noise), truth->mcse[j] / truth->sd[j]);
        sbps_result_destroy(r);
    }
    printf("narrow: off by %+.4f sd, stated %+.4f, error %.4f\n", found, stated, noise);
    CHECK(fabs(found) > 5.0 * noise);
    CHECK(fabs(found - stated) <= 0.3 * fabs(found) + 3.0 * noise);
}

TEST(the_bias_of_sds_is_the_stated_one)
{
    static const double sd[] = {1.5, 0.0};
    char path[256];
    write_table(60, sd, path);
    sbps_result *truth = sample(path, INTERCEPT, "sampler=hmc ess=4000 seed=99");
    check_default(path, truth);
    check_narrow(path, truth);
    sbps_result_destroy(truth);
    unlink(path);
}

/* ---- auto ---- */

#define COST_RATIO_MAX 1.5

/* Rows evaluated per effective sample of the slowest parameter or square. */
static double cost(const sbps_result *r)
{
    return r->info.rows_touched / r->info.min_ess;
}

/* Counted, not timed; an observation of sbps costs what a leapfrog of hmc does, except for
 * what is stored per group. With so few rows nuts would sample the effects instead. */
TEST(auto_chooses_nearly_the_cheapest_sampler_for_integrals)
{
    static const size_t groups[] = {30, 300};
    static const double sd[] = {1.0, 0.0};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        write_table(groups[i], sd, path);
        sbps_result *chosen =
            sample(path, INTERCEPT, "chains=2 ess=400 seed=1 crossed=integrate");
        sbps_result *sampled =
            sample(path, INTERCEPT, "chains=2 ess=400 seed=1 sampler=boomerang");
        sbps_result *hmc = sample(path, INTERCEPT, "chains=2 ess=400 seed=1 sampler=hmc");
        printf("%zu groups: auto (%s) %.4g rows, boomerang %.4g, hmc %.4g\n", groups[i],
               chosen->info.sampler, cost(chosen), cost(sampled), cost(hmc));
        CHECK(cost(chosen) <= COST_RATIO_MAX * fmin(cost(sampled), cost(hmc)));
        sbps_result_destroy(chosen);
        sbps_result_destroy(sampled);
        sbps_result_destroy(hmc);
        unlink(path);
    }
}

TEST(few_rows_are_sampled_with_all_effects_to_the_same_posterior)
{
    static const double sd[] = {1.0, 0.0};
    char path[256];
    write_table(30, sd, path);
    sbps_result *effects = sample(path, INTERCEPT, "ess=2000 seed=1");
    sbps_result *integrals = sample(path, INTERCEPT, "ess=2000 seed=2 crossed=integrate");
    CHECK(!strcmp(effects->info.sampler, "nuts"));
    CHECK(strcmp(integrals->info.sampler, "nuts"));
    for (size_t j = 0; j < integrals->dim; j++) {
        size_t same = 0;
        while (same < effects->dim && strcmp(effects->names[same], integrals->names[j])) same++;
        REQUIRE(same < effects->dim);
        double error = hypot(effects->mcse[same], integrals->mcse[j]);
        CHECK_Z(effects->mean[same], integrals->mean[j], error, MAX_Z);
    }
    sbps_result_destroy(effects);
    sbps_result_destroy(integrals);
    unlink(path);
}

CHECK_MAIN
