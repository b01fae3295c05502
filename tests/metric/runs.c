/* Whole runs that test the metric: a Gaussian with few long and few short axes under
 * `lowrank`, collinear columns, and what `auto` chooses. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "estimate/diagnostics.h"

#define DIM     50
#define FACTORS 3

/* ---- lowrank on a Gaussian ---- */

/* S = diag(s_j^2) + sum_k f_k f_k' with entries of f_k up to 100 s_j: variances over four
 * decades. */
static void write_covariance(const char *path, double *variance)
{
    static double f[FACTORS][DIM], s[DIM];
    rng r = rng_stream(11, 0, RNG_TEST);
    for (size_t j = 0; j < DIM; j++) {
        s[j] = exp(rng_normal(&r));
        for (size_t k = 0; k < FACTORS; k++)
            f[k][j] = s[j] * pow(5.0, (double)k) * rng_normal(&r);
    }
    FILE *file = fopen(path, "w");
    if (!file) give_up(path, &(sbps_error){.text = "cannot be written"});
    for (size_t j = 0; j < DIM; j++) fprintf(file, "c%zu%c", j, j + 1 < DIM ? ',' : '\n');
    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < DIM; j++) {
            double sum = i == j ? s[i] * s[i] : 0.0;
            for (size_t k = 0; k < FACTORS; k++) sum += f[k][i] * f[k][j];
            if (i == j) variance[i] = sum;
            fprintf(file, "%.17g%c", sum, j + 1 < DIM ? ',' : '\n');
        }
    fclose(file);
}

static void check_gaussian(const char *path, const double *variance, const char *sampler)
{
    char all[512];
    sbps_table *none;
    sbps_error err = {0};
    snprintf(all, sizeof all,
             "model=gaussian covariance=%s metric=lowrank ess=2000 seed=5 sampler=%s", path,
             sampler);
    sbps_options *options = options_of(all);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    sbps_result *r = sample_table(none, options);
    CHECK(r->info.min_ess >= 2000.0 && !strcmp(r->info.metric, "lowrank"));
    for (size_t j = 0; j < DIM; j++)
        check_moments(sampler, r, j,
                      (known){0.0, sqrt(variance[j]), 3.0 * variance[j] * variance[j]}, 0.0);
    /* about as many as the dense metric needs, where without one there would be thousands */
    printf("%s: %.0f bounces per effective sample\n", sampler,
           r->info.bounces / r->info.min_ess);
    CHECK(r->info.bounces / r->info.min_ess < 100.0);
    sbps_result_destroy(r);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

TEST(lowrank_samples_a_gaussian_with_few_long_axes_correctly)
{
    char path[256];
    double variance[DIM];
    temporary_name(sizeof path, path);
    write_covariance(path, variance);
    check_gaussian(path, variance, "sbps");
    check_gaussian(path, variance, "boomerang");
    unlink(path);
}

/* ---- columns that are the same ---- */

#define ROWS 2000

static double twins[ROWS * 2], y[ROWS];

static void make_equal_columns(void)
{
    rng r = rng_stream(12, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        twins[2 * i] = twins[2 * i + 1] = rng_normal(&r);
        y[i] = rng_uniform(&r) < 1.0 / (1.0 + exp(-1.3 * twins[2 * i]));
    }
}

/* -log of the posterior of the sum s of both weights, each ~ N(0, scale^2). */
static double sum_potential(double s, double scale)
{
    double u = 0.25 * s * s / (scale * scale);
    for (size_t i = 0; i < ROWS; i++)
        u += log1p(exp(s * twins[2 * i])) - y[i] * s * twins[2 * i];
    return u;
}

/* Mean and sd of the sum, by quadrature over 12 sds. */
static known sum_known(double scale)
{
    double total = 0.0, first = 0.0, second = 0.0, base = sum_potential(1.3, scale);
    for (double s = 0.9; s < 1.9; s += 0.005) {
        double p = exp(base - sum_potential(s, scale));
        total += p;
        first += p * s;
        second += p * s * s;
    }
    double mean = first / total;
    return (known){.mean = mean, .sd = sqrt(second / total - mean * mean)};
}

static void check_rhat(const sbps_result *r, size_t j)
{
    size_t all = r->chains * r->draws;
    double *x = calloc(all, sizeof *x);
    draw_summary s = {0};
    REQUIRE(x);
    for (size_t i = 0; i < all; i++) x[i] = r->w[i * r->dim + j];
    CHECK(summarize_draws(r->chains, r->draws, x, &s, NULL) == SBPS_OK && s.rhat < 1.02);
    free(x);
}

/* The sum is known from the rows, the difference from the prior alone: N(0, 2 scale^2). */
static void check_equal_columns(double scale, const char *settings)
{
    char all[256];
    known sum = sum_known(scale);
    double sd = sqrt(0.25 * sum.sd * sum.sd + 0.5 * scale * scale);
    known one = {0.5 * sum.mean, sd, 3.0 * pow(sd, 4.0)}; /* the difference dominates: normal */
    snprintf(all, sizeof all,
             "model=logistic no-intercept prior=normal(0,%g) ess=1000 seed=2 %s", scale,
             settings);
    sbps_result *r = sample_arrays(ROWS, 2, twins, y, all);
    double error = sum.sd / sqrt(fmin(r->ess_mean[0], 1000.0));
    check_moments(all, r, 0, one, 0.0);
    check_moments(all, r, 1, one, 0.0);
    check_rhat(r, 0);
    check_rhat(r, 1);
    CHECK_Z(r->mean[0] + r->mean[1], sum.mean, error, MAX_Z);
    sbps_result_destroy(r);
}

TEST(equal_columns_under_a_proper_prior_are_sampled_correctly)
{
    make_equal_columns();
    check_equal_columns(2.5, "metric=dense");
    check_equal_columns(2.5, "metric=lowrank");
}

/* The prior's share of the Hessian is lost in rounding and a ridge takes its place, which no
 * control variate may see. */
TEST(a_ridge_stays_out_of_control_variates)
{
    make_equal_columns();
    check_equal_columns(5e6, "metric=dense control-variate=gradient");
    check_equal_columns(5e6, "metric=dense control-variate=hessian");
    check_equal_columns(5e6, "metric=lowrank control-variate=hessian");
}

TEST(equal_columns_without_a_prior_are_refused)
{
    static const char *const metrics[] = {"dense", "lowrank", "auto"};
    make_equal_columns();
    for (size_t i = 0; i < 3; i++) {
        char all[128];
        sbps_table *table;
        sbps_run *run = NULL;
        sbps_error err = {0};
        snprintf(all, sizeof all, "model=logistic no-intercept prior=flat metric=%s",
                 metrics[i]);
        sbps_options *options = options_of(all);
        REQUIRE(sbps_table_copy(ROWS, 2, twins, NULL, y, options, &table, &err) == SBPS_OK);
        CHECK(sbps_run_create(table, options, &run, &err) == SBPS_NO_MODE && !run);
        CHECK(strstr(err.text, "linear combination") && strstr(err.text, "improper"));
        sbps_table_destroy(table);
        sbps_options_destroy(options);
    }
}

/* ---- the automatic choice ---- */

#define WIDE 120

/* Columns that share `factors` factors; without one each follows the one before (AR 0.9). */
static void make_wide(size_t factors, double *x)
{
    rng r = rng_stream(13, factors, RNG_TEST);
    double load[8 * WIDE], f[8];
    for (size_t k = 0; k < 8 * WIDE; k++) load[k] = rng_normal(&r);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < factors; k++) f[k] = rng_normal(&r);
        for (size_t j = 0; j < WIDE; j++) {
            double *own = x + i * WIDE + j;
            *own = rng_normal(&r);
            for (size_t k = 0; k < factors; k++) *own += load[k * WIDE + j] * f[k];
            if (!factors && j > 0) *own = 0.9 * own[-1] + sqrt(0.19) * *own;
        }
        y[i] = rng_uniform(&r) < 0.5;
    }
}

static void check_choice(size_t factors, const char *settings, const char *expected)
{
    static double x[ROWS * WIDE];
    char all[128];
    make_wide(factors, x);
    snprintf(all, sizeof all, "model=logistic chains=1 epochs=1 warmup=1 %s", settings);
    sbps_result *r = sample_arrays(ROWS, WIDE, x, y, all);
    if (strcmp(r->info.metric, expected))
        printf("%s, %zu factors: %s, expected %s\n", settings, factors, r->info.metric,
               expected);
    CHECK(!strcmp(r->info.metric, expected));
    sbps_result_destroy(r);
}

TEST(auto_chooses_lowrank_if_its_maps_are_much_cheaper)
{
    check_choice(4, "sampler=sbps", "lowrank");
    check_choice(0, "sampler=sbps", "dense");
    check_choice(4, "sampler=sbps metric=dense", "dense");
    check_choice(4, "sampler=hmc", "dense");
    check_choice(4, "sampler=sbps paper", "none");
}

CHECK_MAIN
