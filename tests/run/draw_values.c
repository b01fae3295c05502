/* The potential stored with every draw: minus the log posterior, without noise. */
#include "check.h"
#include "inference/run/run.h"

#include "inference/run/collect.h"
#include "stat/sample.h"

typedef struct {
    double error; /* root mean squares of the error and of the stated error */
    double stated;
    double scatter; /* sd of the truth over the draws */
} verdict;

/* Every tenth draw of the first chain against a pass over all rows. */
static verdict compare_values(const sbps_run *run, const result *r)
{
    verdict v = {0};
    double count = 0.0, mean = 0.0, square = 0.0;
    for (size_t i = 1; i < r->draws; i += 10) {
        double exact, miss, sd = r->potential_sd[i];
        posterior_value(run->target, run->chains[0].d.w + i * r->dim, &exact, NULL);
        miss = r->potential[i] - exact;
        v.error += miss * miss;
        v.stated += sd * sd;
        count += 1.0;
        mean += exact;
        square += exact * exact;
    }
    v.error = sqrt(v.error / count);
    v.stated = sqrt(v.stated / count);
    v.scatter = sqrt(square / count - mean * mean / count / count);
    return v;
}

/* Runs the model of these options on the table at `path`, which is removed. */
static verdict values_at(const char *path, const char *text)
{
    bool finished = false;
    sbps_error err = {0};
    sbps_options *options = options_of(text);
    sbps_table *table;
    sbps_run *run;
    result *r;
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up("run", &err);
    while (!finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    if (run_collect(run, &r, &err) != SBPS_OK) give_up("collect", &err);
    verdict v = compare_values(run, r);
    result_destroy(r);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    unlink(path);
    return v;
}

static verdict values_of(const char *model, size_t n, size_t d, const char *by)
{
    char path[256], text[256];
    sbps_error err = {0};
    temporary_name(sizeof path, path);
    if (sbps_simulate(model, n, d, 4, path, NULL, &err) != SBPS_OK) give_up("simulate", &err);
    snprintf(text, sizeof text, "model=%s target=y ess=200 sampler=%s seed=3", model, by);
    return values_at(path, text);
}

static void check_small_error(verdict v)
{
    CHECK(v.error < 0.1 * v.scatter);
    CHECK(v.error <= 2.0 * v.stated); /* some forty draws */
}

TEST(small_tables_have_exact_values)
{
    verdict v = values_of("logistic", 1000, 5, "auto");
    CHECK(v.stated == 0.0 && v.error < TOL_DIFF);
}

TEST(values_of_large_tables_have_a_small_stated_error)
{
    check_small_error(values_of("logistic", 100000, 10, "sbps"));
    check_small_error(values_of("linear", 100000, 10, "sbps"));
}

TEST(samplers_without_a_control_variate_have_values_too)
{
    check_small_error(values_of("logistic", 60000, 10, "hmc"));
}

/* A row of a run with groups is a whole group: few of them can still be too expensive for exact
 * values. They took nine tenths of the time of such runs. */
TEST(values_with_few_large_groups_are_estimated)
{
    char path[256];
    rng r = rng_stream(9, 0, RNG_TEST);
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fprintf(file, "y,x,g\n");
    for (size_t i = 0; i < 4000; i++) {
        double x = rng_normal(&r), eta = 0.3 * x + sin((double)(i % 50));
        fprintf(file, "%.0f,%.4f,g%zu\n", floor(exp(eta) / (0.1 + rng_uniform(&r))), x, i % 50);
    }
    fclose(file);
    verdict v = values_at(path, "model=negative_binomial formula=y~x+(1|g) ess=1000 seed=3 "
                                "sampler=boomerang crossed=integrate ranef=none");
    printf("error %.3g, stated %.3g, scatter %.3g\n", v.error, v.stated, v.scatter);
    CHECK(v.stated > 0.0);
    CHECK(v.error <= 2.0 * v.stated);
    CHECK(v.error < 0.5 * v.scatter);
}

CHECK_MAIN
