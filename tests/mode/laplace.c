/* Laplace's approximation against closed forms. */
#include "posterior/mode/laplace.h"
#include "mode/helpers.h"

#define N 300
#define D 3

/* U = N a + S e^-2a / 2 - a + const under flat priors: at the mode sigma^2 = S/(N-1),
 * weights and log sigma are uncorrelated, cov(w) = sigma^2 (X'X)^-1 and var(log sigma) =
 * 1/2(N-1). */
TEST(linear_with_flat_priors_has_the_covariance_of_least_squares)
{
    enum { d = D + 1, all = D + 2 };
    double x[N * D], y[N], gram[d * d] = {0}, covariance[all * all], sd[all];
    simulate("linear", N, D, 5, x, y);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++)
                gram[j * d + k] += (j ? x[i * D + j - 1] : 1.0) * (k ? x[i * D + k - 1] : 1.0);
    REQUIRE(cholesky(d, gram));
    fit f = fit_rows(make_rows(N, D, x, y, NULL, true), "linear", "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    REQUIRE(laplace_spread(all, f.m, covariance, sd, NULL) == SBPS_OK);
    double variance = exp(2.0 * f.m->w[d]);
    for (size_t j = 0; j < d; j++) {
        double column[d] = {0};
        column[j] = variance;
        cholesky_solve(d, gram, column);
        for (size_t k = 0; k < d; k++) CHECK_NEAR(covariance[j * all + k], column[k], 1e-10);
        CHECK_NEAR(covariance[j * all + d], 0.0, 1e-8);
        CHECK_NEAR(sd[j] * sd[j], column[j], 1e-10);
    }
    CHECK_NEAR(sd[d] * sd[d] * 2.0 * (N - 1), 1.0, 1e-8);
    fit_close(&f);
}

/* The prior is not part of the negative log-likelihood. */
TEST(nll_is_the_likelihood_alone)
{
    double x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1}, count[] = {30, 10, 5, 45};
    nll_distribution dist;
    fit f =
        fit_rows(make_rows(4, 1, x, y, count, true), "logistic", "normal(0,3)", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    REQUIRE(laplace_nll(f.u, f.m, &dist, NULL) == SBPS_OK);
    double a = f.m->w[0], b = a + f.m->w[1], nll = 40.0 * log1p(exp(a)) - 10.0 * a;
    nll += 50.0 * log1p(exp(b)) - 45.0 * b;
    CHECK_NEAR(dist.nll, nll, 1e-12);
    CHECK(fabs(dist.nll - f.m->value) > 1e-3);
    CHECK(dist.rows == 4.0 && dist.dim == 2.0);
    fit_close(&f);
}

/* R: qchisq(p, d) */
TEST(quantiles_are_those_of_chi_squared)
{
    static const struct {
        double dim, p, chi;
    } known[] = {
        {1, 0.95, 3.841458820694124},        {1, 0.001, 1.5707971492624904e-06},
        {2, 0.5, 1.386294361119891},         {20, 0.05, 10.85081139418258},
        {20, 0.5, 19.33742922942826},        {20, 0.95, 31.41043284423092},
        {1000, 0.05, 927.59436302097902},    {1000, 0.95, 1074.6794488034409},
        {100000, 0.999, 101387.69553252945},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nll_distribution dist = {.nll = 0.0, .rows = 0.5, .dim = known[i].dim};
        CHECK_NEAR(nll_quantile(&dist, known[i].p) / known[i].chi, 1.0, 1e-9);
    }
}

TEST(mean_and_sd_are_those_of_the_quantiles)
{
    nll_distribution dist = {.nll = 350.0, .rows = 700.0, .dim = 7.0};
    double mean = 0.0, square = 0.0;
    enum { steps = 4000 };
    for (size_t i = 0; i < steps; i++) { /* midpoints of intervals of equal probability */
        double q = nll_quantile(&dist, ((double)i + 0.5) / steps);
        mean += q / steps;
        square += q * q / steps;
    }
    CHECK_NEAR(nll_mean(&dist) / mean, 1.0, 1e-5);
    CHECK_NEAR(nll_sd(&dist) / sqrt(square - mean * mean), 1.0, 2e-3);
}

/* (w - c)'H(w - c) is a chi^2 of d degrees of freedom, and w has mean c. */
TEST(draws_have_the_covariance_of_the_hessian)
{
    enum { draws = 4000, d = 2 };
    const double hessian[d * d] = {4.0, 3.0, 3.0, 9.0}, centre[d] = {10.0, -5.0};
    double factor[d * d], w[d], mean[d] = {0}, square = 0.0;
    memcpy(factor, hessian, sizeof factor);
    REQUIRE(cholesky(d, factor));
    rng r = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < draws; i++) {
        laplace_draw(d, centre, factor, &r, w);
        double x = w[0] - centre[0], y = w[1] - centre[1];
        square += (4.0 * x * x + 6.0 * x * y + 9.0 * y * y) / draws;
        for (size_t j = 0; j < d; j++) mean[j] += (w[j] - centre[j]) / draws;
    }
    CHECK(fabs(square - d) < MAX_Z * sqrt(2.0 * d / draws));
    CHECK(fabs(mean[0]) < MAX_Z * sqrt(9.0 / 27.0 / draws)); /* H^-1 */
    CHECK(fabs(mean[1]) < MAX_Z * sqrt(4.0 / 27.0 / draws));
}

TEST(a_distance_counts_only_what_is_beyond_chance)
{
    const double hessian[4] = {4.0, 0.0, 0.0, 9.0}, x[2] = {0.5, 1.0}; /* x'Hx = 10 */
    CHECK_NEAR(laplace_distance(2, hessian, x, 1e12), sqrt(5.0), TOL_DIFF);
    CHECK_NEAR(laplace_distance(2, hessian, x, 2.0), sqrt(4.5), TOL_ROUND);
    CHECK_NEAR(laplace_distance(2, hessian, x, 0.1), 2.0, TOL_ROUND); /* fewer than one */
    const double near[2] = {0.05, 0.0};
    CHECK(laplace_distance(2, hessian, near, 100.0) == 0.0);
}

CHECK_MAIN
