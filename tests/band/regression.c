/* The regression of a segment against explicit matrices and integrals, and the prior it
 * learns. */
#include "sampler/band/regression.h"
#include "check.h"
#include "core/rng.h"

#define POINTS 9

typedef struct {
    double t[POINTS], g[POINTS], weight[POINTS];
    regression sums;
} segment_data;

static segment_data make_segment(uint64_t seed, size_t points, double scale)
{
    segment_data f = {0};
    rng r = rng_stream(seed, 0, RNG_TEST);
    regression_clear(&f.sums);
    for (size_t i = 0; i < points; i++) {
        f.t[i] = i ? f.t[i - 1] + rng_exponential(&r) : 0.0;
        f.g[i] = scale * (-1.0 + 0.8 * f.t[i] + 0.5 * rng_normal(&r));
        f.weight[i] = 0.5 + rng_uniform(&r);
        regression_add(&f.sums, f.t[i], f.g[i], f.weight[i]);
    }
    return f;
}

/* Posterior precision X' D X + diag(0, 1/s2) and its right side, term by term; then Cramer. */
TEST(posterior_is_that_of_the_normal_equations)
{
    const double unit = 0.37, next = 0.21;
    const slope_prior prior = {.mean = 0.4, .variance = 0.9};
    for (size_t points = 1; points <= POINTS; points++) {
        segment_data f = make_segment(points, points, 1.0);
        double a[2][2] = {{0, 0}, {0, 1 / prior.variance}},
               h[2] = {0, prior.mean / prior.variance};
        for (size_t i = 0; i < points; i++) {
            double x[2] = {1.0, f.t[i]}, precision = f.weight[i] / unit;
            for (size_t j = 0; j < 2; j++) {
                for (size_t k = 0; k < 2; k++) a[j][k] += precision * x[j] * x[k];
                h[j] += precision * x[j] * f.g[i];
            }
        }
        double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        double b0 = (h[0] * a[1][1] - h[1] * a[0][1]) / det;
        double b1 = (a[0][0] * h[1] - a[1][0] * h[0]) / det;
        regression_fit fit = regression_solve(&f.sums, prior, unit, next);
        CHECK_NEAR(fit.b0, b0, 1e-10);
        CHECK_NEAR(fit.b1, b1, 1e-10);
        CHECK_NEAR(fit.v00 * a[0][0] + fit.v01 * a[1][0], 1.0, 1e-10); /* V A = I */
        CHECK_NEAR(fit.v00 * a[0][1] + fit.v01 * a[1][1], 0.0, 1e-10);
        CHECK_NEAR(fit.v01 * a[0][0] + fit.v11 * a[1][0], 0.0, 1e-10);
        CHECK_NEAR(fit.v01 * a[0][1] + fit.v11 * a[1][1], 1.0, 1e-10);
        for (double t = 0.0; t < 5.0; t += 0.7) {
            double variance = (a[1][1] - 2 * t * a[0][1] + t * t * a[0][0]) / det + next;
            CHECK_NEAR(fit_mean(&fit, t), b0 + b1 * t, 1e-10);
            CHECK_NEAR(fit_sd(&fit, t), sqrt(variance), 1e-10);
        }
    }
}

/* log of the integral over b0, b1 of likelihood and prior: sums over a wide fine grid, which
 * are exact for Gaussians to far below the tolerance. */
static double evidence_by_integration(const segment_data *f, size_t points, slope_prior prior,
                                      double unit)
{
    regression_fit at = regression_solve(&f->sums, prior, unit, 0.0);
    const int half = 80;
    double s0 = sqrt(at.v00), s1 = sqrt(at.v11), sum = 0.0, top = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int i = -half; i <= half; i++)
            for (int j = -half; j <= half; j++) {
                double b0 = at.b0 + 0.1 * s0 * i, b1 = at.b1 + 0.1 * s1 * j;
                double z = b1 - prior.mean;
                double log_p = -0.5 * z * z / prior.variance - 0.5 * log(prior.variance);
                for (size_t k = 0; k < points; k++) {
                    double e = f->g[k] - b0 - b1 * f->t[k];
                    log_p -= 0.5 * e * e * f->weight[k] / unit;
                }
                if (pass == 0)
                    top = fmax(top, log_p);
                else
                    sum += exp(log_p - top);
            }
    return top + log(sum * 0.01 * s0 * s1);
}

static const slope_prior priors[] = {
    {0.4, 0.9}, {0.8, 0.1}, {-2.0, 3.0}, {10.0, 0.5}, {0.0, 40.0}};

TEST(evidence_is_the_integral_over_both_coefficients_up_to_a_constant)
{
    const double unit = 0.37;
    for (size_t points = 2; points <= POINTS; points += 3) {
        segment_data f = make_segment(points, points, 1.0);
        double constant = 0.0;
        for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
            double difference = slope_evidence(&f.sums, priors[i], unit) -
                                evidence_by_integration(&f, points, priors[i], unit);
            if (i == 0) constant = difference;
            CHECK_NEAR(difference, constant, 1e-8);
        }
    }
}

TEST(evidence_gradient_is_its_finite_difference)
{
    const double unit = 0.37, h = 1e-6;
    segment_data f = make_segment(3, POINTS, 1.0);
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
        slope_prior up = priors[i], down = priors[i];
        double d_mean, d_variance;
        slope_evidence_gradient(&f.sums, priors[i], unit, &d_mean, &d_variance);
        up.mean += h;
        down.mean -= h;
        CHECK_NEAR(d_mean,
                   (slope_evidence(&f.sums, up, unit) - slope_evidence(&f.sums, down, unit)) /
                       (2 * h),
                   TOL_DIFF);
        up = down = priors[i];
        up.variance *= 1 + h;
        down.variance *= 1 - h;
        CHECK_NEAR(d_variance,
                   (slope_evidence(&f.sums, up, unit) - slope_evidence(&f.sums, down, unit)) /
                       (2 * h * priors[i].variance),
                   TOL_DIFF);
    }
}

TEST(without_two_different_times_the_prior_stays)
{
    regression r;
    double d_mean = NAN, d_variance = NAN;
    slope_prior prior = {0.7, 2.0};
    regression_clear(&r);
    for (size_t i = 0; i < 4; i++) {
        slope_evidence_gradient(&r, prior, 0.5, &d_mean, &d_variance);
        slope_prior_learn(&prior, &r, 0.5, 0.1);
        CHECK(slope_evidence(&r, prior, 0.5) == 0.0 && d_mean == 0.0 && d_variance == 0.0);
        CHECK(prior.mean == 0.7 && prior.variance == 2.0);
        regression_add(&r, 1.3, (double)i, 1.0);
    }
}

/* ---- learning ---- */

typedef struct {
    double mean, log_variance;
} learned;

/* Segments whose true slopes are N(mean, variance); averages over the second half. */
static learned learn(double mean, double variance, double unit, double rate, size_t segments)
{
    rng random = rng_stream(8, 0, RNG_TEST);
    slope_prior prior = {.mean = 1.0, .variance = 1.0};
    learned average = {0};
    for (size_t i = 0; i < segments; i++) {
        double b0 = rng_normal(&random), b1 = mean + sqrt(variance) * rng_normal(&random);
        regression r;
        regression_clear(&r);
        for (size_t k = 0; k < 6; k++) {
            double t = rng_exponential(&random);
            regression_add(&r, t, b0 + b1 * t + sqrt(unit) * rng_normal(&random), 1.0);
        }
        slope_prior_learn(&prior, &r, unit, rate);
        if (i < segments / 2) continue;
        average.mean += prior.mean / (double)(segments - segments / 2);
        average.log_variance += log(prior.variance) / (double)(segments - segments / 2);
    }
    return average;
}

TEST(learning_finds_the_mean_and_the_variance_of_the_slopes)
{
    static const double cases[][3] = {{3.0, 0.5, 0.2}, {-1.0, 4.0, 0.5}, {0.5, 0.05, 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double mean = cases[i][0], variance = cases[i][1];
        learned got = learn(mean, variance, cases[i][2], 0.01, 60000);
        CHECK(fabs(got.mean - mean) < 0.1 * sqrt(variance));
        CHECK(fabs(got.log_variance - log(variance)) < 0.1);
    }
}

TEST(learning_does_not_depend_on_the_scale)
{
    const double scale = 1024.0; /* a power of two: not even the roundings differ */
    slope_prior plain = {1.0, 1.0}, scaled = {scale, scale * scale};
    for (uint64_t i = 0; i < 200; i++) {
        segment_data a = make_segment(i, POINTS, 1.0), b = make_segment(i, POINTS, scale);
        slope_prior_learn(&plain, &a.sums, 0.25, 0.05);
        slope_prior_learn(&scaled, &b.sums, 0.25 * scale * scale, 0.05);
    }
    CHECK(plain.mean != 1.0 && plain.variance != 1.0);
    CHECK(scaled.mean == scale * plain.mean);
    CHECK(scaled.variance == scale * scale * plain.variance);
}

TEST(one_odd_segment_has_a_limited_effect_on_the_prior)
{
    slope_prior prior = {1.0, 1.0};
    regression r;
    regression_clear(&r);
    for (size_t i = 0; i < 4; i++) regression_add(&r, (double)i, 1e9 * (double)i, 1.0);
    slope_prior_learn(&prior, &r, 0.1, 0.01);
    CHECK(prior.mean > 1.0 && prior.mean < 1.1);
    CHECK(prior.variance > 1.0 && prior.variance < 1.1);
}

/* ---- lack of fit ---- */

#define MANY 20

static const slope_prior vague = {.mean = 1.0, .variance = 100.0};

static regression curve(rng *random, double curvature, double noise, double *t, double *g)
{
    regression r;
    regression_clear(&r);
    for (size_t i = 0; i < MANY; i++) {
        t[i] = 2.0 * rng_uniform(random);
        g[i] = -1.0 + t[i] + curvature * t[i] * t[i] + noise * rng_normal(random);
        regression_add(&r, t[i], g[i], 1.0);
    }
    return r;
}

TEST(misfit_widens_the_band_on_curved_data_by_the_residuals)
{
    rng random = rng_stream(9, 0, RNG_TEST);
    for (size_t repeat = 0; repeat < 50; repeat++) {
        double t[MANY], g[MANY], rss = 0.0, unit = 0.01;
        regression r = curve(&random, 5.0, sqrt(unit), t, g);
        regression_fit before = regression_solve(&r, vague, unit, unit), after = before;
        regression_admit_misfit(&r, unit, &after);
        for (size_t i = 0; i < MANY; i++) rss += pow(g[i] - fit_mean(&before, t[i]), 2.0);
        double left = rss / (MANY - 2.0);
        CHECK(after.noise > before.noise + 0.8 * (left - unit));
        CHECK(after.noise <= before.noise + left);
        CHECK(after.v11 > 2.0 * before.v11);
        CHECK(after.b0 == before.b0 && after.b1 == before.b1 && after.v00 == before.v00);
        for (size_t i = 0; i < MANY; i++)
            CHECK(g[i] < fit_mean(&after, t[i]) + 4 * fit_sd(&after, t[i]));
    }
}

/* Two sds of chi^2 are exceeded in about one segment of thirty. */
TEST(misfit_is_0_for_noisy_straight_data)
{
    rng random = rng_stream(10, 0, RNG_TEST);
    size_t widened = 0, segments = 2000;
    for (size_t repeat = 0; repeat < segments; repeat++) {
        double t[MANY], g[MANY], unit = 0.25;
        regression r = curve(&random, 0.0, sqrt(unit), t, g);
        regression_fit before = regression_solve(&r, vague, unit, unit), after = before;
        regression_admit_misfit(&r, unit, &after);
        widened += after.noise != before.noise;
    }
    CHECK(widened < segments / 15);
}

TEST(misfit_needs_three_observations)
{
    regression r;
    regression_clear(&r);
    regression_add(&r, 0.0, 5.0, 1.0);
    regression_add(&r, 1.0, -5.0, 1.0);
    slope_prior stiff = {.mean = 10.0, .variance = 1e-6};
    regression_fit before = regression_solve(&r, stiff, 0.1, 0.1), after = before;
    regression_admit_misfit(&r, 0.1, &after);
    CHECK(after.noise == before.noise && after.v11 == before.v11);
}

CHECK_MAIN
