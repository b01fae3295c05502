/* Posteriors without a mode are explained, with the columns' names and what to do. */
#include "mode/helpers.h"

#define N 300
#define D 4

static void check_explained(fit *f, const char *const *messages)
{
    CHECK(f->status == SBPS_NO_MODE);
    CHECK(!f->m);
    for (size_t i = 0; messages[i]; i++) {
        if (!strstr(f->err.text, messages[i]))
            printf("no '%s' in: %s\n", messages[i], f->err.text);
        CHECK(strstr(f->err.text, messages[i]));
    }
    fit_close(f);
}

#define EXPLAINED(f, ...) check_explained(&(f), (const char *const[]){__VA_ARGS__, NULL})

TEST(separation_by_a_combination_names_its_columns)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 1, x, y);
    for (size_t i = 0; i < N; i++) y[i] = x[i * D] - 2.0 * x[i * D + 2] > 0.1;
    for (int intercept = 0; intercept < 2; intercept++) {
        for (size_t i = 0; i < N && !intercept; i++) y[i] = x[i * D] - 2.0 * x[i * D + 2] > 0.0;
        fit f =
            fit_rows(make_rows(N, D, x, y, NULL, intercept), "logistic", "flat", "flat", NULL);
        EXPLAINED(f, "separated perfectly by", "'x1'", "'x3'", "flat prior",
                  "--prior \"normal(0,2.5)\"");
    }
}

TEST(separation_by_one_column_names_it_alone)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 2, x, y);
    for (size_t i = 0; i < N; i++) y[i] = x[i * D + 1] > 0.3;
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    EXPLAINED(f, "separated perfectly by column 'x2' alone");
}

/* An indicator that is 1 only among y = 1: the rest of the table overlaps. */
TEST(quasi_separation_names_the_indicator)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 3, x, y);
    for (size_t i = 0; i < N; i++) x[i * D + 3] = y[i] == 1.0 && i % 3 == 0;
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    EXPLAINED(f, "in part of the rows", "column 'x4' alone");
}

TEST(quasi_separation_by_a_single_row_is_detected)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 4, x, y);
    for (size_t i = 0; i < N; i++) x[i * D + 3] = i == 17;
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    EXPLAINED(f, "'x4'");
}

/* Next to one huge cell all other rows hardly vary in this column, and yet they determine its
 * weight. */
TEST(one_huge_cell_is_not_called_separation)
{
    static const char *const priors[] = {"flat", "normal(0,2.5)", "cauchy(0,2.5)"};
    const double cells[] = {1e6, 1e10, -1e10, 1e12};
    double x[N * D], y[N];
    for (size_t p = 0; p < 3; p++)
        for (size_t k = 0; k < 4; k++) {
            simulate("logistic", N, D, 4, x, y);
            x[17 * D] = cells[k];
            rows *data = make_rows(N, D, x, y, NULL, true);
            fit f = fit_rows(data, "logistic", priors[p], "flat", NULL);
            CHECK(f.status == SBPS_OK);
            if (f.status != SBPS_OK) printf("%g, %s: %s\n", cells[k], priors[p], f.err.text);
            fit_close(&f);
        }
}

TEST(rare_overlap_is_not_called_separation)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 5, x, y);
    for (size_t i = 0; i < N; i++) y[i] = x[i * D] > 0.0;
    y[0] = 1.0 - y[0];
    fit f = fit_rows(make_rows(N, 1, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    double one[N];
    for (size_t i = 0; i < N; i++) one[i] = x[i * D];
    fit_close(&f);
    f = fit_rows(make_rows(N, 1, one, y, NULL, true), "logistic", "flat", "flat", NULL);
    CHECK(f.status == SBPS_OK);
    if (f.m) CHECK(distance_to_mode(&f) < TOL_DIFF);
    fit_close(&f);
}

TEST(collinear_columns_with_a_flat_prior_are_named)
{
    static const char *const models[] = {"logistic", "linear"};
    double x[N * D], y[N];
    for (size_t k = 0; k < 2; k++) {
        simulate(models[k], N, D, 6, x, y);
        for (size_t i = 0; i < N; i++) x[i * D + 3] = 3.0 * x[i * D] - x[i * D + 2] + 5.0;
        fit f = fit_rows(make_rows(N, D, x, y, NULL, true), models[k], "flat", "flat", NULL);
        EXPLAINED(f, "'x4' is a linear combination of 'x1', 'x3' and the intercept", "--prior");
    }
}

/* Readers refuse such columns; a table made in memory may still hold one. */
static void make_constant(rows *data, size_t j, double value)
{
    for (size_t i = 0; i < data->local_rows; i++) data->storage.x[i * data->stride + j] = value;
    data->table.mean[j] = value;
    data->table.sd[j] = 0.0;
}

TEST(a_constant_column_with_a_flat_prior_is_named)
{
    double x[N * D], y[N];
    for (int value = 0; value < 2; value++) {
        simulate("logistic", N, D, 7, x, y);
        rows *data = make_rows(N, D, x, y, NULL, true);
        REQUIRE(data);
        make_constant(data, 2, 4.0 * value);
        fit f = fit_rows(data, "logistic", "flat", "flat", NULL);
        EXPLAINED(f, "column 'x2' is ", "in every row");
    }
}

TEST(fewer_rows_than_weights_are_counted)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 8, x, y);
    y[0] = 0.0;
    y[1] = 1.0;
    fit f = fit_rows(make_rows(3, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    EXPLAINED(f, "3 rows cannot tell 5 weights apart");
}

TEST(a_perfect_fit_reports_that_sigma_tends_to_zero)
{
    static const char *const sigma[] = {"flat", "exponential(1)"};
    double x[N * D], y[N];
    for (size_t k = 0; k < 2; k++) {
        simulate("linear", N, D, 9, x, y);
        for (size_t i = 0; i < N; i++) y[i] = 2.0 * x[i * D] - x[i * D + 1] + 7.0;
        fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "flat", sigma[k], NULL);
        EXPLAINED(f, "predict 'y' perfectly", "sigma runs to 0");
        f = fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "normal(0,10)", sigma[k],
                     NULL);
        EXPLAINED(f, "predict 'y' perfectly");
    }
}

/* The model states which of its auxiliaries that is, and its limit. */
TEST(a_perfect_fit_names_the_auxiliary_that_shows_it)
{
    double x[N * D], y[N];
    simulate("gamma", N, D, 9, x, y);
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "gamma", "flat", "gamma(1,1)", NULL);
    CHECK(f.status == SBPS_OK);
    fit_close(&f);
    for (size_t i = 0; i < N; i++) y[i] = 2.0 * x[i * D] - x[i * D + 1] + 7.0;
    f = fit_rows(make_rows(N, D, x, y, NULL, true), "student_t", "flat", "exponential(1)",
                 NULL);
    EXPLAINED(f, "predict 'y' perfectly", "sigma runs to 0");
    for (size_t i = 0; i < N; i++) y[i] = exp(0.1 * y[i]);
    f = fit_rows(make_rows(N, D, x, y, NULL, true), "gamma", "flat", "flat", NULL);
    EXPLAINED(f, "predict 'y' perfectly", "shape runs to infinity");
    for (size_t i = 0; i < N; i++) y[i] = y[i] / (1.0 + y[i]);
    f = fit_rows(make_rows(N, D, x, y, NULL, true), "beta", "flat", "flat", NULL);
    EXPLAINED(f, "predict 'y' perfectly", "phi runs to infinity");
}

TEST(a_timestamp_that_hardly_varies_is_not_called_collinear)
{
    double x[N * D], y[N];
    simulate("linear", N, D, 10, x, y);
    for (size_t i = 0; i < N; i++) x[i * D] = 1.7e9 + x[i * D];
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "flat", "flat", NULL);
    EXPLAINED(f, "'x1'", "--standardize");
}

CHECK_MAIN
