/* The file of a run records the data, the priors and the options of the run. */
#include "check.h"
#include "stat/sample.h"

#define ROWS 240

/* Numbers, a copy of them, a category and some empty cells. */
static void write_table(const char *path)
{
    FILE *file = fopen(path, "w");
    fprintf(file, "y,year,copy,colour\n");
    for (int i = 0; i < ROWS; i++) {
        int year = 2000 + i % 21;
        fprintf(file, "%d,%d,", i * 7 % 11, year);
        if (i % 60) fprintf(file, "%d", 3 * year);
        fprintf(file, ",%s\n", i % 4 == 0 ? "red" : i % 3 ? "blue" : "green");
    }
    fclose(file);
}

static sbps_result *run_of(const char *settings, char *path, size_t size)
{
    char all[256];
    temporary_name(size, path);
    write_table(path);
    snprintf(all, sizeof all, "model=linear target=y missing=drop categorical=colour %s",
             settings);
    sbps_result *r = sample_file(path, all);
    unlink(path);
    return r;
}

#define LABEL_IS(label, j, want) CHECK(r->label[j] && !strcmp(r->label[j], want))

TEST(data_columns_and_levels_are_recorded)
{
    char path[256];
    sbps_result *r = run_of("", path, sizeof path);
    CHECK(r->info.data && !strcmp(r->info.data, path));
    CHECK(r->info.rows == ROWS - 4 && r->info.rows_dropped == 4.0);
    CHECK(!strcmp(r->info.formula, "y ~ 1 + year + copy + colour (blue | green | red)"));
    LABEL_IS(column, 0, "");
    LABEL_IS(column, 1, "year");
    LABEL_IS(level, 1, "");
    LABEL_IS(column, 3, "colour");
    LABEL_IS(level, 3, "green");
    LABEL_IS(reference, 4, "blue");
    LABEL_IS(column, 5, "");
    CHECK_NEAR(r->column_mean[1], 2010.0, 0.01);
    CHECK(isnan(r->standardize_mean[1]) && isnan(r->column_mean[5]));
    sbps_result_destroy(r);
}

TEST(priors_are_recorded)
{
    char path[256], want[64];
    sbps_result *r =
        run_of("prior=normal(1,0.5) prior-sigma=student_t(3,0,2)", path, sizeof path);
    LABEL_IS(prior, 1, "normal(1,0.5)");
    LABEL_IS(prior_of, 0, "the predictor at the means of the columns");
    LABEL_IS(prior_of, 1, "the parameter");
    LABEL_IS(prior, 5, "student_t(3,0,2)");
    CHECK(r->prior_mean[1] == 1.0 && r->prior_sd[1] == 0.5);
    CHECK_NEAR(r->prior_sd[5], 2.0 * sqrt(3.0), TOL_ROUND);
    snprintf(want, sizeof want, "normal(%.17g,", r->prior_mean[0]);
    CHECK(!strncmp(r->prior[0], want, 8));
    /* the data inform the intercept at the means, about 5, but not at x = 0 */
    CHECK(fabs(r->seen_mean[0] - 5.0) < 1.0 && r->seen_sd[0] < 1.0);
    sbps_result_destroy(r);
}

TEST(columns_without_information_in_the_data_are_recorded)
{
    char path[256];
    sbps_result *r = run_of("", path, sizeof path);
    CHECK(r->prior_share[1] > 0.99 && r->prior_share[2] > 0.99);
    CHECK(!(r->prior_share[0] > 0.5) && !(r->prior_share[3] > 0.5));
    sbps_result_destroy(r);
}

TEST(the_effects_of_standardize_are_recorded)
{
    char path[256];
    sbps_result *r = run_of("standardize", path, sizeof path);
    CHECK_NEAR(r->standardize_mean[1], 2010.0, 0.01);
    CHECK_NEAR(r->standardize_sd[2] / r->standardize_sd[1], 3.0, TOL_SUM);
    CHECK_NEAR(r->column_mean[1], 0.0, TOL_SUM);
    sbps_result_destroy(r);
}

CHECK_MAIN
