/* Half-normal posteriors of a level whose rows have one class: hmc in warped coordinates
 * against quadrature. */
#include "check.h"
#include "stat/sample.h"

#define ROWS    203
#define LONE    3 /* rows with x = 1, all of one class */
#define STEPS_A 81
#define STEPS_B 8001

/* a ~ normal(0,10), b ~ normal(0,20): rows by their kinds. */
static double log_density(double count[2][2], double a, double b)
{
    double sum = -a * a / 200.0 - b * b / 800.0;
    for (int x = 0; x < 2; x++) {
        double eta = a + b * x;
        sum -= count[x][0] * (eta > 0.0 ? eta + log1p(exp(-eta)) : log1p(exp(eta)));
        sum -= count[x][1] * (eta < 0.0 ? -eta + log1p(exp(eta)) : log1p(exp(-eta)));
    }
    return sum;
}

/* The trapezium rule; a is known to about 0.15, b lies between -160 and 160, the boundary is
 * about 1 wide and the step in b 0.04. */
static void integrate(double count[2][2], known out[2])
{
    double sums[2][5] = {{0}}, top = log_density(count, 0.0, 0.0) + 10.0;
    for (int i = 0; i < STEPS_A; i++)
        for (int k = 0; k < STEPS_B; k++) {
            double w[2] = {0.04 * (i - STEPS_A / 2), 0.04 * (k - STEPS_B / 2)};
            double p = exp(log_density(count, w[0], w[1]) - top);
            for (int c = 0; c < 2; c++)
                for (int m = 0; m < 5; m++) sums[c][m] += p * pow(w[c], m);
        }
    for (int c = 0; c < 2; c++) {
        double *s = sums[c], m = s[1] / s[0], m2 = s[2] / s[0], m3 = s[3] / s[0];
        out[c] = (known){m, sqrt(m2 - m * m),
                         s[4] / s[0] - 4.0 * m * m3 + 6.0 * m * m * m2 - 3.0 * m * m * m * m};
    }
}

/* `most`: passes over all rows per effective sample. Unwarped coordinates take 55, 66, 174
 * and 512. */
static void compare(double class, const char *settings, double limit)
{
    double x[ROWS], y[ROWS], count[2][2] = {{0}};
    char all[512];
    known truth[2];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = i < LONE;
        y[i] = i < LONE ? class : (double)(i % 2);
        count[(int)x[i]][(int)y[i]] += 1.0;
    }
    integrate(count, truth);
    snprintf(all, sizeof all,
             "model=logistic prior=normal(0,20) prior-intercept=normal(0,10) sampler=hmc "
             "ess=4000 epochs=400000 seed=2 %s",
             settings);
    sbps_result *r = sample_arrays(ROWS, 1, x, y, all);
    CHECK(r->info.min_ess >= 4000.0);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], 0.0);
    double passes = r->info.rows_touched / (double)ROWS / r->info.min_ess;
    CHECK(passes < limit);
    sbps_result_destroy(r);
}

TEST(half_normals_agree_with_quadrature)
{
    compare(0.0, "", 10.0);
    compare(1.0, "", 10.0);
    compare(1.0, "metric=diagonal", 10.0);
    compare(0.0, "metric=none", 100.0);
}

CHECK_MAIN
