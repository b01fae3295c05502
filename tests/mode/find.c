/* The mode against closed forms, and on difficult tables. */
#include "mode/helpers.h"

#define N 400
#define D 5

TEST(cholesky_multiplies_back)
{
    enum { d = 23 };
    double a[d * d], l[d * d], b[d * d];
    rng r = rng_stream(1, 0, RNG_TEST);
    for (size_t i = 0; i < d * d; i++) b[i] = rng_normal(&r);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            a[i * d + j] = i == j;
            for (size_t k = 0; k < d; k++) a[i * d + j] += b[i * d + k] * b[j * d + k];
        }
    memcpy(l, a, sizeof a);
    REQUIRE(cholesky(d, l));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0.0;
            for (size_t k = 0; k <= j; k++) product += l[i * d + k] * l[j * d + k];
            CHECK_NEAR(product, a[i * d + j], TOL_SUM);
        }
}

TEST(cholesky_refuses_an_indefinite_matrix)
{
    CHECK(!cholesky(2, (double[]){1, 2, 2, 1}));
    CHECK(!cholesky(2, (double[]){1, 1, 1, 1}));
    CHECK(!cholesky(1, (double[]){NAN}));
}

/* Solves the normal equations X'X w = X'y, intercept first, by elimination, as an independent
 * solution. */
static void least_squares(size_t n, size_t columns, const double *x, const double *y, double *w,
                          double *residual)
{
    double a[D + 1][D + 2] = {{0}};
    size_t d = columns + 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double xj = j ? x[i * columns + j - 1] : 1.0;
            for (size_t k = 0; k < d; k++) a[j][k] += xj * (k ? x[i * columns + k - 1] : 1.0);
            a[j][d] += xj * y[i];
        }
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++) {
            double factor = a[i][j] / a[j][j];
            for (size_t k = j; k <= d && i != j; k++) a[i][k] -= factor * a[j][k];
        }
    for (size_t j = 0; j < d; j++) w[j] = a[j][d] / a[j][j];
    *residual = 0.0;
    for (size_t i = 0; i < n; i++) {
        double r = y[i] - w[0];
        for (size_t j = 1; j < d; j++) r -= w[j] * x[i * columns + j - 1];
        *residual += r * r;
    }
}

/* Flat priors: weights are least squares. U = N a + S e^-2a/2 - log p(e^a) - a, so with p flat
 * sigma^2 = S/(N-1), and with p exponential(r): (N-1) - S/sigma^2 + r sigma = 0. */
TEST(linear_with_flat_priors_is_least_squares)
{
    double x[N * D], y[N], w[D + 1], residual;
    simulate("linear", N, D, 5, x, y);
    least_squares(N, D, x, y, w, &residual);
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    for (size_t j = 0; j <= D; j++) CHECK_NEAR(f.m->w[j], w[j], 1e-8);
    CHECK_NEAR(exp(f.m->w[D + 1]), sqrt(residual / (N - 1)), 1e-8);
    CHECK(f.m->iterations < 20 && f.m->ridge == 0.0);
    fit_close(&f);
}

TEST(sigma_with_an_exponential_prior_solves_its_cubic)
{
    double x[N * D], y[N], w[D + 1], residual, rate = 40.0;
    simulate("linear", N, D, 5, x, y);
    least_squares(N, D, x, y, w, &residual);
    fit f =
        fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "flat", "exponential(40)", NULL);
    REQUIRE(f.status == SBPS_OK);
    double sigma = exp(f.m->w[D + 1]);
    CHECK_NEAR((N - 1) - residual / (sigma * sigma) + rate * sigma, 0.0, TOL_DIFF);
    fit_close(&f);
}

/* 2x2 table with counts as row weights: log odds in closed form, curvature too. */
TEST(logistic_on_a_two_by_two_table_is_log_odds)
{
    double x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1}, count[] = {30, 10, 5, 45};
    fit f = fit_rows(make_rows(4, 1, x, y, count, true), "logistic", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    CHECK_NEAR(f.m->w[0], log(10.0 / 30.0), 1e-8);
    CHECK_NEAR(f.m->w[1], log(45.0 / 5.0) - log(10.0 / 30.0), 1e-8);
    CHECK_NEAR(f.m->hessian[3], 50.0 * 0.9 * 0.1, 1e-8);
    CHECK_NEAR(f.m->hessian[0], 50.0 * 0.9 * 0.1 + 40.0 * 0.25 * 0.75, 1e-8);
    CHECK(f.m->gradient_norm < 1e-7 && f.m->ridge == 0.0);
    fit_close(&f);
}

TEST(columns_on_scales_from_1e_minus_9_to_1e6_change_nothing)
{
    static const double unit[D] = {1e-9, 1.0, 1e3, 1e6, 10.0},
                        shift[D] = {0, 0, 7e3, 1e7, -40.0};
    static const char *const models[] = {"logistic", "linear"};
    for (size_t k = 0; k < 2; k++) {
        double x[N * D], z[N * D], y[N];
        simulate(models[k], N, D, 6, x, y);
        for (size_t i = 0; i < N * D; i++) z[i] = x[i] * unit[i % D] + shift[i % D];
        fit f = fit_rows(make_rows(N, D, x, y, NULL, true), models[k], "flat", "flat", NULL);
        fit g = fit_rows(make_rows(N, D, z, y, NULL, true), models[k], "flat", "flat", NULL);
        CHECK(f.status == SBPS_OK && g.status == SBPS_OK);
        for (size_t j = 0; j < D && f.m && g.m; j++)
            CHECK_NEAR(f.m->w[j + 1], g.m->w[j + 1] * unit[j], TOL_DIFF);
        fit_close(&f);
        fit_close(&g);
    }
}

/* Every kind of prior, both models, starts near and far. */
TEST(a_mode_is_found_under_every_prior)
{
    static const char *const models[] = {"logistic", "linear"};
    double x[N * D], y[N], far[D + 2] = {30, -30, 30, -30, 30, -30, 3};
    for (size_t k = 0; prior_kinds[k]; k++)
        for (size_t i = 0; i < 4; i++) {
            prior p = {prior_kinds[k], {0.5, 0.7, 0.3}};
            char text[128];
            if (p.kind->correlation) continue;
            prior_format(&p, sizeof text, text);
            const char *model = models[i % 2];
            simulate(model, N, D, 7 + k, x, y);
            fit f = fit_rows(make_rows(N, D, x, y, NULL, true), model,
                             p.kind->positive ? "flat" : text, text, i < 2 ? NULL : far);
            CHECK(f.status == SBPS_OK);
            if (!f.m) printf("%s %s: %s\n", model, text, f.err.text);
            if (f.m && !p.kind->kink) CHECK(distance_to_mode(&f) < TOL_DIFF);
            fit_close(&f);
        }
}

/* No point nearby is better, which is the only test at a kink. */
static void check_minimal(const fit *f)
{
    double w[DIM_MAX], value;
    memcpy(w, f->m->w, f->u->dim * sizeof *w);
    for (size_t j = 0; j < f->u->dim; j++)
        for (int side = -1; side <= 1; side += 2) {
            w[j] = f->m->w[j] + side * 1e-4;
            posterior_value(f->u, w, &value, NULL);
            CHECK(value >= f->m->value);
            w[j] = f->m->w[j];
        }
}

TEST(a_tight_laplace_prior_puts_weights_on_its_kink)
{
    static const char *const models[] = {"logistic", "linear"};
    double x[N * D], y[N];
    for (size_t k = 0; k < 2; k++) {
        simulate(models[k], N, D, 8, x, y);
        for (size_t i = 0; i < N; i++) x[i * D + 1] = x[i * D + 3] = sin(17.0 * (double)i);
        fit f = fit_rows(make_rows(N, D, x, y, NULL, true), models[k], "laplace(0,0.06)",
                         "exponential(1)", NULL);
        REQUIRE(f.status == SBPS_OK);
        check_minimal(&f);
        CHECK(f.m->w[2] == 0.0 || f.m->w[4] == 0.0);
        CHECK(f.m->w[1] != 0.0);
        CHECK(f.m->iterations < 60);
        double a[(D + 2) * (D + 2)];
        memcpy(a, f.m->hessian, f.u->dim * f.u->dim * sizeof *a);
        CHECK(cholesky(f.u->dim, a));
        CHECK(f.m->ridge > 0.0 && f.m->ridge < 1e-6); /* two columns are the same */
        fit_close(&f);
    }
}

TEST(collinear_columns_under_a_proper_prior_share_the_weight)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 9, x, y);
    for (size_t i = 0; i < N; i++) x[i * D + 4] = x[i * D];
    fit f =
        fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "normal(0,10)", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    CHECK_NEAR(f.m->w[1], f.m->w[5], TOL_DIFF);
    CHECK(distance_to_mode(&f) < TOL_DIFF);
    fit_close(&f);
}

TEST(separable_classes_have_a_mode_under_a_proper_prior)
{
    static const char *const priors[] = {"normal(0,2.5)", "normal(0,1e4)", "student_t(3,0,2.5)",
                                         "cauchy(0,2.5)", "laplace(0,1)"};
    double x[N * D], y[N];
    simulate("logistic", N, D, 10, x, y);
    for (size_t i = 0; i < N; i++) y[i] = x[i * D] + x[i * D + 1] > 0.2;
    for (size_t k = 0; k < sizeof priors / sizeof *priors; k++) {
        fit f =
            fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", priors[k], "flat", NULL);
        CHECK(f.status == SBPS_OK);
        if (!f.m) printf("%s: %s\n", priors[k], f.err.text);
        if (f.m && k < 4) CHECK(distance_to_mode(&f) < TOL_DIFF);
        if (f.m) check_minimal(&f);
        fit_close(&f);
    }
}

TEST(a_nonsense_start_is_replaced)
{
    double x[N * D], y[N], start[D + 1] = {NAN};
    simulate("logistic", N, D, 12, x, y);
    fit f =
        fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "normal(0,2)", "flat", start);
    CHECK(f.status == SBPS_OK);
    fit_close(&f);
}

CHECK_MAIN
