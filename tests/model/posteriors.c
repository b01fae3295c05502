/* Whole runs of poisson, softmax and network against known posteriors. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#define N    100
#define GRID 161 /* points per axis */

/* Sums of 1/k^p below n: polygamma functions of whole numbers. */
static double harmonic(double n, double p)
{
    double total = 0.0;
    for (double k = 1.0; k < n; k++) total += pow(k, -p);
    return total;
}

/* Flat prior, n rows, S events: the rate is Gamma(S, n), so with psi the digamma function the
 * log rate has mean psi(S) - log n, variance psi'(S) and fourth cumulant psi'''(S). */
TEST(counts_without_columns_have_a_gamma_posterior)
{
    double y[N], events = 0.0;
    for (size_t i = 0; i < N; i++) events += y[i] = (double)(i % 20 == 0);
    double variance = M_PI * M_PI / 6.0 - harmonic(events, 2.0);
    double cumulant = pow(M_PI, 4.0) / 15.0 - 6.0 * harmonic(events, 4.0);
    known truth = {-0.57721566490153286 + harmonic(events, 1.0) - log(N), sqrt(variance),
                   cumulant + 3.0 * variance * variance};
    static const char *const settings[] = {
        "model=poisson prior-intercept=flat ess=2500 seed=3",
        "model=poisson prior-intercept=flat ess=2500 seed=3 batch-size=50"};
    for (size_t k = 0; k < 2; k++) {
        sbps_result *r = sample_arrays(N, 0, NULL, y, settings[k]);
        CHECK(r->dim == 1);
        check_moments(settings[k], r, 0, truth, r->info.bias_budget);
        sbps_result_destroy(r);
    }
}

/* A posterior in two dimensions, up to its constant. */
typedef double (*density)(const double *x, const double *y, double a, double b);

/* The trapezium rule over +-9 sds of the run, which covers the posterior even if the run is
 * somewhat off. */
static void integrate(density log_p, const double *x, const double *y, const sbps_result *r,
                      known out[2])
{
    double sums[2][5] = {{0}}, top = log_p(x, y, r->mean[0], r->mean[1]);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            double d[2] = {9.0 * r->sd[0] * (2.0 * i / (GRID - 1) - 1.0),
                           9.0 * r->sd[1] * (2.0 * j / (GRID - 1) - 1.0)};
            double p = exp(log_p(x, y, r->mean[0] + d[0], r->mean[1] + d[1]) - top);
            for (int c = 0; c < 2; c++)
                for (int k = 0; k < 5; k++) sums[c][k] += p * pow(d[c], k);
        }
    for (int c = 0; c < 2; c++) {
        double m = sums[c][1] / sums[c][0], m2 = sums[c][2] / sums[c][0];
        double m3 = sums[c][3] / sums[c][0], m4 = sums[c][4] / sums[c][0];
        out[c] = (known){r->mean[c] + m, sqrt(m2 - m * m),
                         m4 - 4.0 * m * m3 + 6.0 * m * m * m2 - 3.0 * m * m * m * m};
    }
}

static void compare(density log_p, size_t columns, const double *x, const double *y,
                    const char *settings)
{
    known truth[2];
    sbps_result *r = sample_arrays(N, columns, x, y, settings);
    REQUIRE(r->dim == 2);
    integrate(log_p, x, y, r, truth);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], r->info.bias_budget);
    sbps_result_destroy(r);
}

static double poisson_density(const double *x, const double *y, double a, double b)
{
    double total = -0.5 * (a * a / 4.0 + b * b);
    for (size_t i = 0; i < N; i++) total += y[i] * (a + b * x[i]) - exp(a + b * x[i]);
    return total;
}

TEST(counts_with_a_column_agree_with_quadrature)
{
    double x[N], y[N];
    rng r = rng_stream(41, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        double events = -1.0, rate;
        x[i] = rng_normal(&r);
        rate = exp(-0.5 + 0.6 * x[i]);
        for (double t = 0.0; t < rate; t += rng_exponential(&r)) events++;
        y[i] = events;
    }
    static const char *const settings[] = {"", "batch-size=40", "control-variate=none"};
    for (size_t k = 0; k < 3; k++) {
        char all[256];
        snprintf(
            all, sizeof all,
            "model=poisson prior=normal(0,1) prior-intercept=normal(0,2) ess=2500 seed=4 %s",
            settings[k]);
        compare(poisson_density, 1, x, y, all);
    }
}

/* Two classes, an intercept each, priors normal(0, 1.5): quadrature over both. */
static double softmax_density(const double *x, const double *y, double a, double b)
{
    double total = -0.5 * (a * a + b * b) / 2.25, ones = 0.0;
    (void)x;
    for (size_t i = 0; i < N; i++) ones += y[i];
    return total + (N - ones) * a + ones * b - N * log(exp(a) + exp(b));
}

TEST(two_classes_without_columns_agree_with_quadrature)
{
    double y[N];
    for (size_t i = 0; i < N; i++) y[i] = (double)(i % 4 == 0);
    compare(softmax_density, 0, NULL, y,
            "model=softmax prior-intercept=normal(0,1.5) ess=2500 seed=5");
    compare(
        softmax_density, 0, NULL, y,
        "model=network hidden=0 prior-intercept=normal(0,1.5) ess=2500 seed=6 batch-size=50");
}

/* Without hidden layers and with the gaussian head a network is a line with sd 1. */
static double line_density(const double *x, const double *y, double a, double b)
{
    double total = -0.5 * (a * a + b * b) / 9.0;
    for (size_t i = 0; i < N; i++) total -= 0.5 * pow(y[i] - a - b * x[i], 2.0);
    return total;
}

TEST(a_network_of_one_gaussian_unit_agrees_with_quadrature)
{
    double x[N], y[N];
    rng r = rng_stream(42, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        x[i] = rng_normal(&r);
        y[i] = 0.5 - x[i] + rng_normal(&r);
    }
    compare(
        line_density, 1, x, y,
        "model=network head=gaussian hidden=0 prior=normal(0,3) prior-intercept=normal(0,3) "
        "ess=2500 seed=7");
}

/* Permuted and mirrored units give the same network, so marginals cannot be compared: a run
 * with hidden units of either kind ends with finite moments within what the priors allow. */
TEST(networks_with_hidden_units_finish)
{
    double x[N], y[N];
    rng r = rng_stream(43, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        x[i] = 2.0 * rng_normal(&r);
        y[i] = 3.0 * tanh(x[i] - 0.5) + rng_normal(&r);
    }
    static const char *const kinds[] = {"activation=tanh hidden=2",
                                        "activation=relu hidden=3,2"};
    static const size_t dims[] = {2 * 2 + 3, 3 * 2 + 2 * 4 + 3};
    for (size_t k = 0; k < 2; k++) {
        char all[256];
        snprintf(all, sizeof all, "model=network head=gaussian epochs=2000 seed=8 %s",
                 kinds[k]);
        sbps_result *run = sample_arrays(N, 1, x, y, all);
        CHECK(run->dim == dims[k] && !strcmp(run->names[0], "l1:1:intercept"));
        for (size_t j = 0; j < run->dim; j++)
            CHECK(isfinite(run->mean[j]) && run->sd[j] > 0.0 && run->sd[j] < 30.0);
        sbps_result_destroy(run);
    }
}

CHECK_MAIN
