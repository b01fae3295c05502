/* Gradient methods against Newton's: the same mode, with the requested gradient norm. */
#include "mode/helpers.h"

#define N 1000
#define D 6

static const char *const models[] = {"logistic", "linear", "poisson"};

/* The same posterior's mode by another method. */
static mode *find_by(const fit *f, const char *method, double tolerance, uint64_t seed)
{
    mode *m = NULL;
    sbps_error err = {0};
    mode_request how = {
        .method = method, .tolerance = tolerance, .max_epochs = 1000.0, .seed = seed};
    if (mode_find_by(f->u, NULL, &how, &m, &err) != SBPS_OK) printf("%s\n", err.text);
    return m;
}

/* sqrt(g' H^-1 g) at w by the Hessian at the mode that Newton found. */
static double distance_at(const fit *f, mode *other)
{
    fit there = *f;
    there.m = other;
    return distance_to_mode(&there);
}

static void check_agrees(const fit *f, const char *method, double tolerance)
{
    mode *m = find_by(f, method, tolerance, 3);
    REQUIRE(m);
    size_t d = f->u->dim;
    CHECK(!strcmp(m->method, method));
    CHECK(m->gradient_norm <= tolerance);
    CHECK_NEAR(distance_at(f, m), m->gradient_norm, TOL_DIFF * tolerance);
    double length = 0.0; /* (w - w_newton)' H (w - w_newton) */
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            length +=
                (m->w[i] - f->m->w[i]) * f->m->hessian[i * d + j] * (m->w[j] - f->m->w[j]);
    CHECK(sqrt(length) <= 1.01 * tolerance + 1e-7);
    mode_destroy(m);
}

TEST(sag_and_lbfgs_find_the_mode_that_newton_finds)
{
    double x[N * D], y[N], weight[N];
    for (size_t i = 0; i < N; i++) weight[i] = 0.5 + (double)(i % 4);
    for (size_t k = 0; k < 3; k++)
        for (size_t weighted = 0; weighted < 2; weighted++) {
            simulate(models[k], N, D, 11 + k, x, y);
            fit f = fit_rows(make_rows(N, D, x, y, weighted ? weight : NULL, true), models[k],
                             "normal(0,2)", "exponential(1)", NULL);
            REQUIRE(f.status == SBPS_OK);
            check_agrees(&f, "sag", 1e-4);
            check_agrees(&f, "sag", 1e-8);
            check_agrees(&f, "lbfgs", 1e-4);
            check_agrees(&f, "lbfgs", 1e-7);
            fit_close(&f);
        }
}

/* Blocks that are not whole, tables of a few rows. */
TEST(sag_takes_tables_of_any_length)
{
    double x[N * D], y[N];
    simulate("logistic", N, 2, 5, x, y);
    for (size_t n = 5; n < 70; n += 13) {
        fit f = fit_rows(make_rows(n, 2, x, y, NULL, true), "logistic", "normal(0,1)",
                         "normal(0,1)", NULL);
        REQUIRE(f.status == SBPS_OK);
        check_agrees(&f, "sag", 1e-6);
        fit_close(&f);
    }
}

/* Only the prior is strongly convex; and a prior that is not log-concave. */
TEST(sag_counts_the_prior_exactly)
{
    static const char *const priors[] = {"normal(3,0.01)", "normal(0,1000)",
                                         "student_t(2,1,0.1)", "cauchy(0,0.2)"};
    double x[N * D], y[N];
    simulate("logistic", N, D, 21, x, y);
    for (size_t k = 0; k < 4; k++) {
        fit f =
            fit_rows(make_rows(200, D, x, y, NULL, true), "logistic", priors[k], "flat", NULL);
        REQUIRE(f.status == SBPS_OK);
        check_agrees(&f, "sag", 1e-6);
        fit_close(&f);
    }
}

/* Counts in the thousands: the curvature at the start is far from that at the mode. */
TEST(sag_converges_from_a_distant_start)
{
    double x[N * D], y[N];
    simulate("poisson", N, D, 31, x, y);
    for (size_t i = 0; i < N; i++) y[i] = floor(y[i] * 1000.0);
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "poisson", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    check_agrees(&f, "sag", 1e-5);
    fit_close(&f);
}

TEST(a_tighter_goal_takes_more_epochs_and_a_seed_gives_the_same_path)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 41, x, y);
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    mode *loose = find_by(&f, "sag", 1e-2, 1), *tight = find_by(&f, "sag", 1e-8, 1);
    mode *again = find_by(&f, "sag", 1e-8, 1), *other = find_by(&f, "sag", 1e-8, 2);
    REQUIRE(loose && tight && again && other);
    CHECK(loose->epochs < tight->epochs);
    CHECK(loose->gradient_norm > tight->gradient_norm);
    CHECK(!memcmp(tight->w, again->w, f.u->dim * sizeof *tight->w));
    CHECK(memcmp(tight->w, other->w, f.u->dim * sizeof *tight->w));
    mode *const all[] = {loose, tight, again, other};
    for (size_t i = 0; i < 4; i++) mode_destroy(all[i]);
    fit_close(&f);
}

static void check_refused(const fit *f, const char *method, double epochs, const char *message)
{
    mode *m = NULL;
    sbps_error err = {0};
    mode_request how = {.method = method, .tolerance = 1e-6, .max_epochs = epochs, .seed = 1};
    CHECK(mode_find_by(f->u, NULL, &how, &m, &err) != SBPS_OK);
    CHECK(!m && strstr(err.text, message));
    if (!strstr(err.text, message)) printf("'%s' without '%s'\n", err.text, message);
    mode_destroy(m);
}

TEST(unsupported_posteriors_are_refused)
{
    double x[N * D], y[N];
    simulate("logistic", N, D, 51, x, y);
    fit f =
        fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "laplace(0,1)", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    check_refused(&f, "sag", 100.0, "newton takes it");
    check_refused(&f, "lbfgs", 100.0, "newton takes it");
    check_refused(&f, "simplex", 100.0, "there is no 'simplex'");
    fit_close(&f);
    f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    check_refused(&f, "sag", 3.0, "epochs");
    fit_close(&f);
}

/* A start point used as the mode: with its Hessian, or with a given matrix. */
TEST(a_point_can_be_used_as_the_mode)
{
    double x[N * D], y[N], w[D + 1] = {0}, precision[(D + 1) * (D + 1)] = {0};
    simulate("logistic", N, D, 61, x, y);
    for (size_t j = 0; j <= D; j++) precision[j * (D + 2)] = 2.0 + (double)j;
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "logistic", "flat", "flat", NULL);
    mode *own = NULL, *taken = NULL;
    REQUIRE(f.status == SBPS_OK);
    REQUIRE(mode_take(f.u, f.m->w, NULL, &own, NULL) == SBPS_OK);
    REQUIRE(mode_take(f.u, w, precision, &taken, NULL) == SBPS_OK);
    CHECK(!memcmp(own->w, f.m->w, sizeof w));
    CHECK(own->gradient_norm <= 1e-7 && own->value == f.m->value);
    for (size_t i = 0; i < (D + 1) * (D + 1); i++)
        CHECK_NEAR(own->hessian[i], f.m->hessian[i], TOL_SUM);
    CHECK(!memcmp(taken->hessian, precision, sizeof precision));
    CHECK(taken->gradient_norm > 1.0 && taken->value > own->value);
    w[0] = 1e308;
    w[1] = NAN;
    mode *none = NULL;
    CHECK(mode_take(f.u, w, NULL, &none, NULL) != SBPS_OK && !none);
    mode_destroy(own);
    mode_destroy(taken);
    fit_close(&f);
}

CHECK_MAIN
