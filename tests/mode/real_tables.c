/* The mode on published tables, if they are available. */
#include "ingest/ingest.h"
#include "mode/helpers.h"

#define SHARED "../shared/"

/* Reads a table of the folder next to the source tree. NULL if it is missing. */
static rows *read_shared(const char *name, bool intercept)
{
    const char *root = getenv("SBPS_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/" SHARED "%s", root ? root : ".", name);
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    fclose(file);
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = intercept, .seed = 1};
    sbps_error err = {0};
    if (rows_read(path, &spec, &data, &err) != SBPS_OK) printf("%s\n", err.text);
    CHECK(data);
    return data;
}

static void check_table(rows *data, const char *model, const char *weights, const char *sigma)
{
    fit f = fit_rows(data, model, weights, sigma, NULL);
    CHECK(f.status == SBPS_OK);
    if (f.m) {
        CHECK(distance_to_mode(&f) < TOL_DIFF);
        CHECK(f.m->iterations < 40);
        CHECK(f.m->ridge == 0.0);
    } else {
        printf("%s\n", f.err.text);
    }
    fit_close(&f);
}

TEST(the_reference_table_has_a_mode)
{
    rows *data = read_shared("reference/logistic_1000.csv", false);
    if (!data) SKIP("no ../shared");
    check_table(data, "logistic", "normal(0,10)", "flat");
}

TEST(german_credit_has_a_mode_with_any_prior)
{
    static const char *const priors[] = {"flat", "normal(0,10)", "cauchy(0,2.5)",
                                         "student_t(3,0,1)"};
    for (size_t k = 0; k < 4; k++) {
        rows *data = read_shared("data/german_credit_scaled.csv", true);
        if (!data) SKIP("no ../shared");
        check_table(data, "logistic", priors[k], "flat");
    }
}

TEST(htru2_has_a_mode_on_its_raw_scales)
{
    static const char *const priors[] = {"flat", "normal(0,10)", "cauchy(0,2.5)"};
    for (size_t k = 0; k < 3; k++) {
        rows *data = read_shared("data/htru2_pulsar.csv", true);
        if (!data) SKIP("no ../shared");
        check_table(data, "logistic", priors[k], "flat");
    }
}

TEST(concrete_has_a_mode_as_a_linear_regression)
{
    static const char *const sigma[] = {"flat", "exponential(0.06)"};
    for (size_t k = 0; k < 2; k++) {
        rows *data = read_shared("data/concrete_regression.csv", true);
        if (!data) SKIP("no ../shared");
        check_table(data, "linear", k ? "normal(0,10)" : "flat", sigma[k]);
    }
}

CHECK_MAIN
