/* Linear regression with unknown sigma against quadrature over sigma alone.
 *
 * Row i counts c_i times, z_i = y_i - offset_i, w ~ N(m, D^-1); the intercept's default
 * prior is of the line at the means of the columns, which adds to D outside its diagonal.
 * Given sigma,
 *   P = X'CX / sigma^2 + D,   b = X'Cz / sigma^2 + D m,   w | sigma, y ~ N(P^-1 b, P^-1)    (1)
 *   log p(y | sigma) = -(sum c) log sigma - log det P / 2
 *                    - (z'Cz / sigma^2 - b'P^-1 b) / 2                              (2)
 * up to a constant. With a = log sigma the density of a is p(y | sigma) p(sigma) sigma: a
 * sum over an even grid of a mixes (1). */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "linalg/cholesky.h"

#define ROWS 300
#define DIM  3  /* intercept and two features */
#define FEW  12 /* rows that leave sigma to its prior, too */
#define GRID 4001
#define REACH                                                                                  \
    3.0 /* of log sigma about the residual sd; its posterior sd is 0.04 or, of FEW, 0.25 */

typedef struct {
    size_t rows;
    double x[ROWS][DIM], y[ROWS], weight[ROWS], offset[ROWS];
    double mean[DIM], sd[DIM], y_mean, y_sd; /* population sds */
} table;

typedef struct {
    double mean[DIM], sd[DIM]; /* INFINITY: flat */
    double (*log_sigma_prior)(double sigma, double y_sd);
    bool centred; /* the first is of the line at the means of the columns */
} priors;

static table simulate(size_t rows, bool weighted)
{
    table t = {.rows = rows};
    double n = (double)rows;
    rng random = rng_stream(3, 0, RNG_TEST);
    for (size_t i = 0; i < rows; i++) {
        double *x = t.x[i];
        x[0] = 1.0;
        x[1] = 4.0 + 2.0 * rng_normal(&random);
        x[2] = 0.3 * x[1] + rng_normal(&random);
        t.weight[i] = weighted ? 2.0 * rng_uniform(&random) : 1.0;
        t.offset[i] = weighted ? rng_normal(&random) : 0.0;
        t.y[i] = 10.0 + 1.5 * x[1] - x[2] + t.offset[i] + 3.0 * rng_normal(&random);
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < DIM; j++) t.mean[j] += t.x[i][j] / n;
        t.y_mean += t.y[i] / n;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < DIM; j++) t.sd[j] += pow(t.x[i][j] - t.mean[j], 2.0) / n;
        t.y_sd += pow(t.y[i] - t.y_mean, 2.0) / n;
    }
    for (size_t j = 0; j < DIM; j++) t.sd[j] = sqrt(t.sd[j]);
    t.y_sd = sqrt(t.y_sd);
    return t;
}

/* ---- what is known ---- */

/* (1) and (2) at one sigma: mean and covariance of w, and the log density of log sigma. */
static double conditional(const table *t, const priors *p, double sigma, double mean[DIM],
                          double covariance[DIM * DIM])
{
    double factor[DIM * DIM] = {0}, b[DIM] = {0}, square = 0.0, count = 0.0,
                        tau = pow(sigma, -2);
    for (size_t i = 0; i < t->rows; i++) {
        double c = t->weight[i], z = t->y[i] - t->offset[i];
        for (size_t j = 0; j < DIM; j++) {
            b[j] += tau * c * t->x[i][j] * z;
            for (size_t k = 0; k < DIM; k++)
                factor[j * DIM + k] += tau * c * t->x[i][j] * t->x[i][k];
        }
        square += c * z * z;
        count += c;
    }
    for (size_t i = 0; i < DIM; i++) {
        double own = pow(p->sd[i], -2.0), c[DIM] = {0};
        c[i] = 1.0;
        for (size_t j = 1; p->centred && i == 0 && j < DIM; j++) c[j] = t->mean[j];
        for (size_t j = 0; j < DIM; j++) b[j] += own * p->mean[i] * c[j];
        for (size_t j = 0; j < DIM * DIM; j++) factor[j] += own * c[j / DIM] * c[j % DIM];
    }
    cholesky(DIM, factor);
    memcpy(mean, b, sizeof b);
    cholesky_solve(DIM, factor, mean);
    double log_root = 0.0, explained = 0.0;
    for (size_t j = 0; j < DIM; j++) {
        double *column = covariance + j * DIM;
        memset(column, 0, DIM * sizeof *column);
        column[j] = 1.0;
        cholesky_solve(DIM, factor, column);
        log_root += log(factor[j * DIM + j]);
        explained += b[j] * mean[j];
    }
    return p->log_sigma_prior(sigma, t->y_sd) + log(sigma) - count * log(sigma) - log_root -
           0.5 * (tau * square - explained);
}

static double residual_sd(const table *t, const priors *p)
{
    double w[DIM], s[DIM * DIM], sum = 0.0, count = 0.0;
    conditional(t, p, 3.0, w, s);
    for (size_t i = 0; i < t->rows; i++) {
        double r = t->y[i] - t->offset[i];
        for (size_t j = 0; j < DIM; j++) r -= w[j] * t->x[i][j];
        sum += t->weight[i] * r * r;
        count += t->weight[i];
    }
    return sqrt(sum / count);
}

/* Raw moments of v + sd N(0,1), added with weight p. */
static void mix(double sums[5], double p, double v, double variance)
{
    sums[0] += p;
    sums[1] += p * v;
    sums[2] += p * (v * v + variance);
    sums[3] += p * (v * v * v + 3.0 * v * variance);
    sums[4] += p * (v * v * v * v + 6.0 * v * v * variance + 3.0 * variance * variance);
}

static known central(const double sums[5], double shift)
{
    double m = sums[1] / sums[0], m2 = sums[2] / sums[0], m3 = sums[3] / sums[0];
    double m4 = sums[4] / sums[0];
    return (known){shift + m, sqrt(m2 - m * m),
                   m4 - 4.0 * m * m3 + 6.0 * m * m * m2 - 3.0 * m * m * m * m};
}

/* DIM coefficients, then sigma. */
static void integrate(const table *t, const priors *p, known out[DIM + 1])
{
    double sums[DIM + 1][5] = {{0}}, mean[DIM], covariance[DIM * DIM], at[DIM];
    double centre = log(residual_sd(t, p)),
           top = conditional(t, p, exp(centre), at, covariance);
    for (size_t g = 0; g < GRID; g++) {
        double sigma = exp(centre + REACH * (2.0 * (double)g / (GRID - 1) - 1.0));
        double density = exp(conditional(t, p, sigma, mean, covariance) - top);
        for (size_t j = 0; j < DIM; j++)
            mix(sums[j], density, mean[j] - at[j], covariance[j * DIM + j]);
        mix(sums[DIM], density, sigma - exp(centre), 0.0);
    }
    for (size_t j = 0; j < DIM; j++) out[j] = central(sums[j], at[j]);
    out[DIM] = central(sums[DIM], exp(centre));
}

/* ---- what is sampled ---- */

static sbps_result *run(const table *t, bool weighted, const char *settings)
{
    char path[256], all[512];
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,a,b%s\n", weighted ? ",count,shift" : "");
    for (size_t i = 0; i < t->rows; i++) {
        fprintf(file, "%.17g,%.17g,%.17g", t->y[i], t->x[i][1], t->x[i][2]);
        if (weighted) fprintf(file, ",%.17g,%.17g", t->weight[i], t->offset[i]);
        fputc('\n', file);
    }
    fclose(file);
    snprintf(all, sizeof all, "model=linear target=y ess=3000 seed=2 %s %s",
             weighted ? "weights=count offset=shift" : "", settings);
    sbps_result *r = sample_file(path, all);
    unlink(path);
    return r;
}

static void compare(const table *t, const priors *p, bool weighted, const char *settings)
{
    known truth[DIM + 1];
    integrate(t, p, truth);
    sbps_result *r = run(t, weighted, settings);
    CHECK(r->dim == DIM + 1 && !strcmp(r->names[DIM], "sigma"));
    CHECK(r->info.min_ess >= 3000.0);
    for (size_t j = 0; j <= DIM; j++)
        check_moments(settings, r, j, truth[j], r->info.bias_budget);
    sbps_result_destroy(r);
}

static double exponential_auto(double sigma, double y_sd)
{
    return -sigma / y_sd;
}

static double exponential_four(double sigma, double y_sd)
{
    (void)y_sd;
    return -4.0 * sigma;
}

static double normal_half(double sigma, double y_sd)
{
    (void)y_sd;
    return -0.5 * pow((sigma - 1.0) / 0.2, 2.0);
}

static double student_half(double sigma, double y_sd)
{
    (void)y_sd;
    return -2.0 * log1p(pow(sigma / 0.5, 2.0) / 3.0);
}

/* The defaults: intercept at the mean of x normal(mean y, 10 sd y), coefficients normal(0,
 * 2.5 sd y / sd x). */
static priors usual(const table *t)
{
    priors p = {.mean = {t->y_mean},
                .sd = {10.0 * t->y_sd},
                .log_sigma_prior = exponential_auto,
                .centred = true};
    for (size_t j = 1; j < DIM; j++) p.sd[j] = 2.5 * t->y_sd / t->sd[j];
    return p;
}

TEST(quadrature_recovers_the_conjugate_case)
{
    /* flat priors and p(sigma) = 1: sigma^2 is inverse gamma((n - d - 1)/2, rss/2), so
     * E sigma = sqrt(rss/2) G((n-d-2)/2) / G((n-d-1)/2) */
    table t = simulate(ROWS, false);
    priors p = {.sd = {INFINITY, INFINITY, INFINITY}, .log_sigma_prior = exponential_auto};
    known truth[DIM + 1];
    t.y_sd = INFINITY;
    integrate(&t, &p, truth);
    double rss = ROWS * pow(residual_sd(&t, &p), 2.0), shape = 0.5 * (ROWS - DIM - 1);
    double mean = sqrt(0.5 * rss) * exp(lgamma(shape - 0.5) - lgamma(shape));
    CHECK_NEAR(truth[DIM].mean, mean, TOL_DIFF);
    CHECK_NEAR(truth[DIM].sd, sqrt(0.5 * rss / (shape - 1.0) - mean * mean), TOL_DIFF);
}

TEST(default_run_agrees_with_quadrature)
{
    table t = simulate(ROWS, false);
    priors p = usual(&t);
    compare(&t, &p, false, "");
    compare(&t, &p, false, "batch-size=300");
    compare(&t, &p, false, "batch-size=60 minibatch=window metric=diagonal");
}

/* Priors that pull: an error in their densities or in log sigma's Jacobian shows. */
TEST(priors_of_sigma_are_in_its_own_scale)
{
    table t = simulate(ROWS, false);
    priors p = usual(&t);
    p.log_sigma_prior = exponential_four;
    compare(&t, &p, false, "prior-sigma=exponential(4)");
    p.log_sigma_prior = normal_half;
    compare(&t, &p, false, "prior-sigma=normal(1,0.2)");
    p.log_sigma_prior = student_half;
    compare(&t, &p, false, "prior-sigma=student_t(3,0,0.5)");
}

TEST(priors_of_coefficients_act_as_documented)
{
    table t = simulate(ROWS, false);
    priors p = usual(&t);
    p.mean[0] = 5.0;
    p.sd[0] = 0.5;
    p.mean[1] = p.mean[2] = 1.0;
    p.sd[1] = p.sd[2] = 0.1;
    static const char given[] = "prior-intercept=normal(5,0.5) prior=normal(1,0.1)";
    char settings[128];
    snprintf(settings, sizeof settings, "%s prior-intercept-at=mean", given);
    compare(&t, &p, false, settings);
    p.centred = false; /* one that is given is of the intercept that is reported */
    compare(&t, &p, false, given);
}

/* As a year is: with its default prior at x = 0 the intercept would hold the slope back. */
TEST(a_column_far_from_zero_keeps_its_slope)
{
    table t = simulate(ROWS, false);
    for (size_t i = 0; i < ROWS; i++) t.x[i][1] += 2000.0;
    t.mean[1] += 2000.0;
    priors p = usual(&t);
    compare(&t, &p, false, "");
    compare(&t, &p, false, "storage=float");
    compare(&t, &p, false, "sampler=hmc");
}

/* Of few rows the posterior of sigma is wide and skew: its Jacobian moves it by a quarter
 * sd. */
TEST(few_rows_agree_with_quadrature)
{
    table t = simulate(FEW, false);
    priors p = usual(&t);
    compare(&t, &p, false, "");
    p.log_sigma_prior = student_half;
    compare(&t, &p, false, "prior-sigma=student_t(3,0,0.5)");
}

TEST(weights_and_offsets_count)
{
    table t = simulate(ROWS, true);
    priors p = usual(&t);
    compare(&t, &p, true, "");
}

/* With a flat intercept the posterior of the line does not depend on where x is centred:
 * coefficient = standardised coefficient / sd(x). */
TEST(standardised_coefficients_are_scaled_by_the_sd_of_x)
{
    table t = simulate(ROWS, false);
    priors p = usual(&t);
    known truth[DIM + 1];
    p.sd[0] = INFINITY;
    integrate(&t, &p, truth);
    for (size_t j = 1; j < DIM; j++) {
        truth[j].mean *= t.sd[j];
        truth[j].sd *= t.sd[j];
        truth[j].fourth *= pow(t.sd[j], 4.0);
    }
    sbps_result *r = run(&t, false, "standardize prior-intercept=flat");
    for (size_t j = 1; j <= DIM; j++)
        check_moments("standardize", r, j, truth[j], r->info.bias_budget);
    /* the intercept is now the height of the line at mean(x) */
    CHECK_Z(r->mean[0], t.y_mean, r->mcse[0], MAX_Z);
    sbps_result_destroy(r);
}

CHECK_MAIN
