/* The potential that is stored with every draw: minus the log posterior there, and no noise. */
#include "check.h"
#include "inference/run/run.h"

#include "inference/run/collect.h"
#include "stat/sample.h"

typedef struct {
    double error; /* root mean square of what is stored less the truth, and of what is stated */
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

static verdict values_of(const char *model, size_t n, size_t d, const char *by)
{
    char path[256];
    bool finished = false;
    sbps_error err = {0};
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
    result *r;
    const char *const settings[][2] = {
        {"model", model}, {"target", "y"}, {"ess", "200"}, {"sampler", by}, {"seed", "3"}};
    temporary_name(sizeof path, path);
    if (sbps_simulate(model, n, d, 4, path, NULL, &err) != SBPS_OK) give_up("simulate", &err);
    if (sbps_options_create(&options, &err) != SBPS_OK) give_up("options", &err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (sbps_options_set(options, settings[i][0], settings[i][1], &err) != SBPS_OK)
            give_up(settings[i][0], &err);
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

TEST(values_of_large_tables_have_a_small_error_and_state_it)
{
    check_small_error(values_of("logistic", 100000, 10, "sbps"));
    check_small_error(values_of("linear", 100000, 10, "sbps"));
}

TEST(samplers_without_a_control_variate_have_values_too)
{
    check_small_error(values_of("logistic", 60000, 10, "hmc"));
}

CHECK_MAIN
