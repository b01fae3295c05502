/* Quantiles by selection equal those of sorted values, for any distribution. */
#include "check.h"

#include "core/rng.h"
#include "output/predict/loo.h"
#include "output/predict/value_summary.h"

enum { VALUES_MAX = 5000 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_of(size_t n, const double *sorted, double p)
{
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    return k + 1 < n ? sorted[k] + (h - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

/* Normal, skewed, discrete, constant, bimodal, with an outlier. */
static double draw(rng *r, int distribution, size_t i)
{
    double normal = rng_normal(r);
    switch (distribution) {
    case 0:
        return 3.0 + 0.01 * normal;
    case 1:
        return exp(2.0 * normal);
    case 2:
        return floor(3.0 * rng_uniform(r));
    case 3:
        return 7.0;
    case 4:
        return normal + (i % 2 ? 1000.0 : 0.0);
    default:
        return i == 0 ? 1e12 : normal;
    }
}

TEST(quantiles_are_those_of_sorted_values)
{
    static double value[VALUES_MAX], sorted[VALUES_MAX];
    static const size_t sizes[] = {1, 2, 3, 10, 99, 100, 101, 1000, 1001, VALUES_MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int distribution = 0; distribution < 6; distribution++) {
            size_t n = sizes[k];
            double sum = 0.0, square = 0.0;
            rng r = rng_stream(k, (uint64_t)distribution, RNG_TEST);
            for (size_t i = 0; i < n; i++) sum += value[i] = draw(&r, distribution, i);
            for (size_t i = 0; i < n; i++)
                square += (value[i] - sum / (double)n) * (value[i] - sum / (double)n);
            memcpy(sorted, value, n * sizeof *value);
            qsort(sorted, n, sizeof *sorted, by_value);
            double interval = distribution % 2 ? 0.9 : 0.5, tail = 0.5 * (1.0 - interval);
            value_summary s = summarise_values(kernels_best(), n, value, interval);
            CHECK_NEAR(s.mean, sum / (double)n, TOL_SUM);
            CHECK_NEAR(s.sd, n > 1 ? sqrt(square / (double)(n - 1)) : 0.0, 1e-9);
            CHECK_NEAR(s.low, quantile_of(n, sorted, tail), TOL_ROUND);
            CHECK_NEAR(s.median, quantile_of(n, sorted, 0.5), TOL_ROUND);
            CHECK_NEAR(s.high, quantile_of(n, sorted, 1.0 - tail), TOL_ROUND);
        }
}

static size_t exponentials;

static void count_exponentials(size_t n, const double *x, double *out)
{
    exponentials += n;
    kernels_best()->exp(n, x, out);
}

/* Density of a row over many draws: exponentials are computed by the kernel only. */
TEST(log_mean_exp_is_correct_and_uses_the_exponential_kernel)
{
    rng r = rng_stream(11, 0, RNG_PREDICT);
    kernels counting = *kernels_best();
    double x[VALUES_MAX];
    counting.exp = count_exponentials;
    for (size_t n = 1; n <= VALUES_MAX; n = 2 * n + 1) {
        long double sum = 0.0L;
        for (size_t i = 0; i < n; i++) x[i] = 3.0 * rng_normal(&r) - 800.0;
        for (size_t i = 0; i < n; i++) sum += expl((long double)x[i] + 800.0L);
        double want = (double)(logl(sum / (long double)n) - 800.0L);
        exponentials = 0;
        CHECK_NEAR(log_mean_exp(&counting, n, x), want, 8.0 * DBL_EPSILON * fabs(want));
        CHECK(exponentials == n);
    }
    x[0] = -INFINITY;
    CHECK(log_mean_exp(&counting, 1, x) == -INFINITY);
    x[1] = 0.0;
    CHECK_NEAR(log_mean_exp(&counting, 2, x), -log(2.0), TOL_ROUND);
    x[1] = NAN;
    x[0] = 1.0;
    CHECK(isnan(log_mean_exp(&counting, 2, x)));
}

CHECK_MAIN
