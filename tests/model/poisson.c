/* Poisson regression: closed forms, extreme predictors, draws of small and large means, and
 * tables whose posterior is improper. */
#include "ingest/ingest.h"
#include "mode/helpers.h"

#define N 200

/* n counts y_i, exposures e^offset_i, flat prior: the mode of the log rate is log(sum y / sum
 * exposure) and its curvature sum y. */
TEST(the_mode_of_an_intercept_is_the_log_of_events_per_exposure)
{
    double y[N], offset[N], events = 0.0, exposure = 0.0;
    rng r = rng_stream(31, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        offset[i] = rng_normal(&r);
        y[i] = model_find("poisson")->predictor->simulate(&r, 0.7 + offset[i], NULL);
        events += y[i];
        exposure += exp(offset[i]);
    }
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = true, .seed = 1};
    REQUIRE(rows_copy(N, 0, NULL, NULL, y, NULL, offset, &spec, &data, NULL) == SBPS_OK);
    fit f = fit_rows(data, "poisson", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    CHECK_NEAR(f.m->w[0], log(events / exposure), TOL_DIFF);
    CHECK_NEAR(f.m->hessian[0], events, TOL_DIFF);
    fit_close(&f);
}

/* Large counts are far from the start of the search. */
TEST(the_mode_is_found_far_from_zero)
{
    double x[N], y[N];
    for (int size = -6; size <= 12; size += 6) {
        rng r = rng_stream(32, 0, RNG_TEST);
        for (size_t i = 0; i < N; i++) {
            x[i] = rng_normal(&r);
            y[i] = model_find("poisson")->predictor->simulate(
                &r, log(10.0) * size / 2.0 + 0.3 * x[i], NULL);
        }
        y[0] += 1.0; /* small rates: some event */
        fit f = fit_rows(make_rows(N, 1, x, y, NULL, true), "poisson", "normal(0,10)", "flat",
                         NULL);
        CHECK(f.status == SBPS_OK);
        if (f.m) CHECK(distance_to_mode(&f) < 1e-6);
        fit_close(&f);
    }
}

TEST(extreme_predictors_give_finite_numbers)
{
    const model_kind *model = model_find("poisson");
    double eta[] = {-1e6, -800.0, 299.0, 301.0, 800.0, 1e6}, still[6] = {0};
    double y[] = {3, 0, 1, 0, 1e9, 0}, out[6];
    batch b = {.k = kernels_best(), .n = 6, .eta = eta, .y = y, .deta = still};
    model->predictor->slope(&b, out);
    for (size_t i = 0; i < 6; i++) CHECK(out[i] == 0.0);
    model->predictor->loglik(&b, out);
    for (size_t i = 0; i < 6; i++) CHECK(isfinite(out[i]));
    CHECK(out[1] == 0.0 && out[4] < -1e130 && out[5] < out[3] && out[3] < out[2]);
    model->predictor->gradient(&b, out, NULL);
    CHECK(out[0] == 3.0 && out[1] == 0.0 && isfinite(out[5] * out[5]));
    model->predictor->curvature(&b, out, NULL, NULL);
    CHECK(out[0] == 0.0 && isfinite(out[5]));
}

/* Frequencies against e^loglik, on both sides of the change of method at 10. */
static void check_draws(double mu)
{
    enum { draws = 200000, max_count = 128 };
    const model_kind *model = model_find("poisson");
    rng r = rng_stream(33, (uint64_t)(mu * 10.0), RNG_TEST);
    static double count[max_count];
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < draws; i++) {
        double y = model->predictor->simulate(&r, log(mu), NULL);
        REQUIRE(y >= 0.0 && y < max_count && y == floor(y));
        count[(size_t)y]++;
    }
    for (size_t k = 0; k < max_count; k++) {
        double eta = log(mu), y = (double)k, p;
        batch b = {.k = kernels_best(), .n = 1, .eta = &eta, .y = &y};
        model->predictor->loglik(&b, &p);
        p = exp(p);
        if (p * draws < 20.0) continue;
        CHECK_Z(count[k] / draws, p, sqrt(p * (1.0 - p) / draws), MAX_Z);
    }
}

TEST(draws_have_the_frequencies_of_the_likelihood)
{
    static const double rates[] = {0.3, 4.0, 9.99, 10.01, 25.0, 60.0};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) check_draws(rates[i]);
}

static void check_explained(fit *f, const char *message)
{
    CHECK(f->status == SBPS_NO_MODE);
    if (!strstr(f->err.text, message)) printf("no '%s' in: %s\n", message, f->err.text);
    CHECK(strstr(f->err.text, message));
    fit_close(f);
}

TEST(a_table_of_zeros_is_explained_and_cured_by_a_prior)
{
    double x[N], y[N] = {0};
    for (size_t i = 0; i < N; i++) x[i] = (double)(i % 7);
    fit f = fit_rows(make_rows(N, 1, x, y, NULL, true), "poisson", "flat", "flat", NULL);
    check_explained(&f, "target 'y' is 0 in every row");
    f = fit_rows(make_rows(N, 1, x, y, NULL, true), "poisson", "normal(0,10)", "flat", NULL);
    CHECK(f.status == SBPS_OK);
    fit_close(&f);
}

/* x2 is 1 only where y is 0; x1 is noise. */
TEST(an_indicator_of_zeros_is_named)
{
    double x[2 * N], y[N];
    rng r = rng_stream(34, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = rng_normal(&r);
        y[i] = model_find("poisson")->predictor->simulate(&r, 0.3 * x[2 * i], NULL);
        x[2 * i + 1] = y[i] == 0.0 && i % 2;
    }
    fit f = fit_rows(make_rows(N, 2, x, y, NULL, true), "poisson", "flat", "flat", NULL);
    check_explained(&f, "column 'x2' alone");
}

/* Zeros lie below the other counts in x, which no plane can exploit: counts vary above. */
TEST(zeros_below_other_counts_are_not_separation)
{
    double x[N], y[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i / N;
        y[i] = i < N / 2 ? 0.0 : (double)(1 + i % 3);
    }
    fit f = fit_rows(make_rows(N, 1, x, y, NULL, true), "poisson", "flat", "flat", NULL);
    CHECK(f.status == SBPS_OK);
    if (f.m) CHECK(distance_to_mode(&f) < 1e-6);
    fit_close(&f);
}

CHECK_MAIN
