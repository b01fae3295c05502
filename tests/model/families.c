/* Families at their limits: limits that are other distributions, extreme predictors, and
 * impossible targets. */
#include "check.h"
#include "model/likelihood/model.h"

#define N 6

typedef struct {
    double loglik[N], d_eta[N], d_aux[2 * N], ee[N], ea[2 * N], aa[3 * N];
} all_of;

static all_of evaluate_all(const char *model, const double *eta, const double *y,
                           const double *aux)
{
    all_of out = {0};
    batch b = {.k = kernels_best(), .n = N, .eta = eta, .y = y, .aux = aux, .pitch = N};
    const predictor *p = model_find(model)->predictor;
    p->loglik(&b, out.loglik);
    p->gradient(&b, out.d_eta, out.d_aux);
    p->curvature(&b, out.ee, out.ea, out.aa);
    return out;
}

static const double counts[N] = {0, 1, 3, 12, 150, 4}, etas[N] = {-3, 0, 1, 2.5, 5, -1};

/* For a large phi the derivative by log phi is about ((y - mu)^2 - y)/phi. */
TEST(a_negative_binomial_with_large_phi_is_poisson)
{
    for (double a = 12.0; a < 40.0; a += 9.0) {
        double phi = exp(a);
        all_of wide = evaluate_all("negative_binomial", etas, counts, &a);
        all_of limit = evaluate_all("poisson", etas, counts, NULL);
        for (size_t i = 0; i < N; i++) {
            double mu = exp(etas[i]), off = counts[i] - mu;
            CHECK_NEAR(wide.loglik[i], limit.loglik[i], 1e4 / phi + 1e-11);
            CHECK_NEAR(wide.d_eta[i], limit.d_eta[i], 1e4 / phi + TOL_SUM);
            CHECK_NEAR(wide.d_aux[i], -0.5 * (off * off - counts[i]) / phi,
                       1e7 / (phi * phi) + 1e-11);
            CHECK_NEAR(wide.ee[i], limit.ee[i], 1e5 / phi + 1e-11);
        }
    }
}

/* For many degrees of freedom. */
TEST(student_t_with_large_nu_is_normal)
{
    const double y[N] = {0.3, -1, 2, 0, 4, -3};
    for (double b = 14.0; b < 40.0; b += 8.0) {
        const double aux[] = {-0.2, b};
        all_of wide = evaluate_all("student_t", etas, y, aux),
               limit = evaluate_all("linear", etas, y, aux);
        for (size_t i = 0; i < N; i++) {
            CHECK_NEAR(wide.loglik[i], limit.loglik[i], 1e3 * exp(-b) + 1e-11);
            CHECK_NEAR(wide.d_eta[i], limit.d_eta[i], 1e3 * exp(-b) + TOL_SUM);
            CHECK_NEAR(wide.d_aux[i], limit.d_aux[i], 1e3 * exp(-b) + TOL_SUM);
            CHECK_NEAR(wide.d_aux[N + i], 0.0, 1e4 * exp(-b) + 1e-9);
        }
    }
}

/* For a very small zi. */
TEST(a_zero_inflated_poisson_with_small_zi_is_poisson)
{
    const double aux[] = {-40.0};
    all_of seen = evaluate_all("zero_inflated_poisson", etas, counts, aux);
    all_of limit = evaluate_all("poisson", etas, counts, NULL);
    for (size_t i = 0; i < N; i++) {
        CHECK_NEAR(seen.loglik[i], limit.loglik[i], TOL_SUM);
        CHECK_NEAR(seen.d_eta[i], limit.d_eta[i], TOL_SUM);
        CHECK_NEAR(seen.ee[i], limit.ee[i], TOL_SUM);
    }
}

/* A large shape: y/mu is nearly normal around 1 with variance 1/shape, and the score of its
 * logarithm is finite. */
TEST(narrow_distributions_keep_their_precision)
{
    const double at[N] = {0.5, 1, 2, 3, 0.1, -0.7};
    for (double a = 5.0; a < 30.0; a += 5.0) {
        double y[N], proportion[N], z = 1.3;
        for (size_t i = 0; i < N; i++) {
            y[i] = exp(at[i] + z * exp(-0.5 * a));
            double mu = 1.0 / (1.0 + exp(-at[i]));
            proportion[i] = mu + z * sqrt(mu * (1.0 - mu)) * exp(-0.5 * a);
        }
        all_of gamma = evaluate_all("gamma", at, y, &a),
               beta = evaluate_all("beta", at, proportion, &a);
        for (size_t i = 0; i < N; i++) {
            double mu = 1.0 / (1.0 + exp(-at[i]));
            double limit = 60.0 * exp(-0.5 * a) + 1e-15 * exp(0.5 * a);
            CHECK_NEAR(gamma.d_aux[i], 0.5 * (1.0 - z * z), limit);
            CHECK_NEAR(beta.d_aux[i], 0.5 * (1.0 - z * z), limit);
            CHECK_NEAR(gamma.ee[i] * exp(-a), -1.0, limit);
            CHECK_NEAR(beta.ee[i] * exp(-a) / (mu * (1.0 - mu)), -1.0, 10.0 * limit);
        }
    }
}

static void check_finite(const char *model, const double *y, const double *aux)
{
    const double far[N] = {-1e6, -800.0, -40.0, 40.0, 800.0, 1e6};
    all_of seen = evaluate_all(model, far, y, aux);
    for (size_t i = 0; i < N; i++) {
        CHECK(isfinite(seen.loglik[i]) && isfinite(seen.d_eta[i]) && isfinite(seen.ee[i]));
        CHECK(isfinite(seen.d_aux[i]) && isfinite(seen.ea[i]) && isfinite(seen.aa[i]));
    }
}

TEST(extreme_predictors_give_finite_numbers)
{
    const double binary[N] = {0, 1, 1, 0, 0, 1},
                 proportions[N] = {0.2, 1e-9, 0.5, 0.9, 1e-300, 0.7};
    const double real[N] = {0, 1e5, -3, 2, 1e-9, 7},
                 positive[N] = {1e-300, 2, 1e8, 1e300, 4, 1};
    const double aux[] = {0.4, 1.2};
    check_finite("binomial", binary, aux);
    check_finite("probit", binary, aux);
    check_finite("probit", proportions, aux);
    check_finite("student_t", real, aux);
    check_finite("negative_binomial", counts, aux);
    check_finite("zero_inflated_poisson", counts, aux);
    check_finite("gamma", positive, aux);
    check_finite("beta", proportions, aux);
}

/* log Phi(-x) is -x^2/2 - log x - log(2 pi)/2 - 1/x^2 + ..., and its slope x + 1/x - ...:
 * Abramowitz, Stegun, 26.2.12. */
TEST(probit_is_accurate_on_both_sides_of_the_change_of_formula)
{
    const double ones[N] = {1, 1, 1, 1, 1, 1};
    const double far[N] = {-7.9999999, -8.0000001, -15, -30, -100, -1e4};
    all_of seen = evaluate_all("probit", far, ones, NULL);
    CHECK_NEAR(seen.d_eta[0], seen.d_eta[1], TOL_DIFF);
    CHECK_NEAR(seen.ee[0], seen.ee[1], 1e-8);
    for (size_t i = 2; i < N; i++) {
        double x = -far[i], s = 1.0 / (x * x);
        double series = log1p(-s * (1.0 - s * (3.0 - s * (15.0 - s * 105.0))));
        CHECK_NEAR(seen.loglik[i], -0.5 * x * x - log(x) - 0.5 * log(2.0 * M_PI) + series,
                   1e-8 / x);
        CHECK_NEAR(seen.d_eta[i], x + 1.0 / x - 2.0 / pow(x, 3) + 10.0 / pow(x, 5), 1e-4 / x);
        CHECK_NEAR(seen.ee[i], -1.0 + s - 6.0 * s * s, 1e-4);
    }
}

TEST(impossible_targets_are_refused_by_value)
{
    static const struct {
        const char *model;
        double y[3];
        const char *sentence;
    } wrong[] = {
        {"probit", {0, 1, 2}, "holds 2; probit needs proportions of successes"},
        {"student_t", {3, 3, 3}, "is 3 in every row; student_t needs a target that varies"},
        {"student_t", {3, NAN, 3}, "student_t needs finite numbers"},
        {"negative_binomial", {0, 1.5, 3}, "holds 1.5; negative_binomial needs counts"},
        {"negative_binomial", {0, 0, 0}, "cannot estimate the spread of such counts"},
        {"zero_inflated_poisson", {0, -1, 3}, "zero_inflated_poisson needs counts"},
        {"gamma", {1, 0, 3}, "holds 0; gamma needs numbers above 0"},
        {"gamma", {1, 1, 1}, "gamma needs a target that varies"},
        {"beta", {0.5, 1, 0.2}, "holds 1; beta needs proportions above 0 and below 1"},
        {"beta", {0.5, 0, 0.2}, "holds 0; beta"},
        {"beta", {0.5, 0.5, 0.5}, "beta needs a target that varies"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double y[3];
        sbps_error err = {0};
        memcpy(y, wrong[i].y, sizeof y);
        rows r = {.local_rows = 3, .y = y};
        CHECK(model_find(wrong[i].model)->predictor->check(&r, &err) == SBPS_BAD_DATA);
        if (!strstr(err.text, wrong[i].sentence)) printf("%s\n", err.text);
        CHECK(strstr(err.text, wrong[i].sentence));
    }
}

CHECK_MAIN
