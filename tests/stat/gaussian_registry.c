/* Every sampler of the registry on Gaussians of d = 2, 10 and 100 parameters and condition
 * numbers 1 and 10^4, at an ESS of 2000, 500 with a hundred parameters unless tests run at
 * length: the error of every mean and of every variance within 5 standard errors, those of
 * the sampler's own path.
 *
 * What is expected of a sampler is in one table below; a sampler that is in the registry but
 * not in the table fails the test. With S = Q diag(s_i) Q' the variance along each axis is
 *
 *   Var w_j = sum_i Q_ij^2 s_i f(eta l_i),   l_i = 1/s_i, or 1 in the dense metric,        (1)
 *
 * f = 1 for exact samplers. The biased ones, with steps of eta = h (no rows, so no
 * mini-batch noise):
 *
 *   sgld, psgld   f = 1 / (1 - eta l / 2), the latter with eta G_i
 *   sghmc         f = 1 / (1 - eta l / (2 (2 - alpha))): v' = (1 - alpha) v - eta l w + noise
 *                 and w' = w + v' imply Cov(w, v) = Var v / 2 and
 *                 Var w = (2 - alpha) Var v / 2 eta l
 *   msgnht        f = cosh(alpha / 2) - eta l / 4 while thermostats hold E v^2 = eta
 *
 * The thermostats' fluctuations (sd sqrt(eta)) add a term of the same order, so eta l / 4 is
 * allowed for it. At eta l = 0.2 the value is 0.940 +- 0.001 by a separate program: equation
 * (1) of msgnht.c in units of time, 20,000 chains in numpy, the last 700 of 1070 steps.
 * Beyond 0.25 the fluctuations dominate (1.59 at 0.4). */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "inference/run/run.h"

#define TALL    1e4 /* condition number */
#define MAX_DIM 100

/* ---- expected distributions ---- */

/* f of (1) for a chain, along an axis of curvature l; `wander` gets what it is known to
 * within. */
typedef double (*axis_covariance)(const sampler *s, size_t i, double eta_l, double *wander);

static double exact(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)s, (void)i, (void)eta_l, (void)wander;
    return 1.0;
}

static double langevin(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)s, (void)i, (void)wander;
    return 1.0 / (1.0 - 0.5 * eta_l);
}

/* Its frozen gains follow V in memory. The axes are the coordinates' here. */
static double preconditioned(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)wander;
    return 1.0 / (1.0 - 0.5 * eta_l * s->extra[s->dim + i]);
}

static double momentum(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)s, (void)i, (void)wander;
    return 1.0 / (1.0 - 0.5 * eta_l / (2.0 - 0.1));
}

static double thermostats(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)s, (void)i;
    *wander = 0.25 * eta_l;
    return cosh(0.5 * 0.1) - 0.25 * eta_l;
}

static double thermostats_measured(const sampler *s, size_t i, double eta_l, double *wander)
{
    (void)s, (void)i;
    *wander = 0.001;
    CHECK_NEAR(eta_l, 0.2, TOL_ROUND);
    return 0.940;
}

/* ---- what is expected of whom ---- */

typedef struct {
    const char *sampler;
    axis_covariance covariance; /* NULL: refused, with a sentence that names who can */
    const char *settings;       /* always */
    const char *tall;           /* besides, at the large condition number */
    double noise;               /* on every component of the gradient, times the largest sd */
    bool axes; /* S is diagonal: a diagonal metric cannot mix on another one that is tall */
    size_t dim_max; /* 0: any */
} expectation;

static const expectation expectations[] = {
    {.sampler = "sbps", .covariance = exact},
    {.sampler = "sbps", .covariance = exact, .noise = 1.0, .dim_max = 10},
    {.sampler = "psbps", .covariance = exact, .axes = true},
    {.sampler = "boomerang", .covariance = exact},
    {.sampler = "boomerang",
     .covariance = exact,
     .settings = "metric=diagonal",
     .axes = true,
     .noise = 0.3,
     .dim_max = 10},
    {.sampler = "bps", .covariance = exact},
    {.sampler = "noisy-bps", .covariance = exact, .noise = 1.0},
    {.sampler = "zigzag", .covariance = exact},
    {.sampler = "lipsbps"},
    {.sampler = "local-bps"},
    {.sampler = "zigzag-ss"},
    {.sampler = "zigzag-cv"},
    {.sampler = "sgld",
     .covariance = langevin,
     .settings = "step-size=0.8",
     .tall = "metric=dense"},
    {.sampler = "psgld",
     .covariance = preconditioned,
     .settings = "step-size=0.6",
     .axes = true},
    {.sampler = "sghmc",
     .covariance = momentum,
     .settings = "step-size=0.8",
     .tall = "metric=dense"},
    {.sampler = "msgnht",
     .covariance = thermostats_measured,
     .settings = "step-size=0.2",
     .tall = "metric=dense"},
    {.sampler = "msgnht",
     .covariance = thermostats,
     .settings = "step-size=0.1",
     .tall = "metric=dense",
     .dim_max = 10},
    {.sampler = "mh", .covariance = exact},
    {.sampler = "hmc", .covariance = exact},
    {.sampler = "nuts", .covariance = exact},
    {.sampler = "surrogate"},
    {.sampler = "sweep"},
    {.sampler = "importance", .covariance = exact},
};

#define EXPECTATIONS (sizeof expectations / sizeof *expectations)

TEST(every_sampler_of_the_registry_has_an_expectation)
{
    for (size_t k = 0; sampler_kinds[k]; k++) {
        size_t found = 0;
        for (size_t e = 0; e < EXPECTATIONS; e++)
            found += !strcmp(expectations[e].sampler, sampler_kinds[k]->name);
        if (!found) printf("nothing is expected of %s\n", sampler_kinds[k]->name);
        CHECK(found > 0);
    }
    for (size_t e = 0; e < EXPECTATIONS; e++) CHECK(sampler_find(expectations[e].sampler));
}

/* ---- targets ---- */

static double ess_of(size_t d)
{
    return d < MAX_DIM ? 2000.0 : check_size(500.0, 2000.0, 2000.0);
}

typedef struct {
    size_t d;
    double condition;
    double q[MAX_DIM][MAX_DIM]; /* row i: axis i */
    double s[MAX_DIM];          /* variance along it */
} gaussian;

/* Axes by Gram-Schmidt, twice for rounding's sake. */
static void rotate_axes(gaussian *g)
{
    rng random = rng_stream(g->d, 1, RNG_TEST);
    for (size_t i = 0; i < g->d; i++) {
        double *row = g->q[i], square = 0.0;
        for (size_t j = 0; j < g->d; j++) row[j] = rng_normal(&random);
        for (size_t k = 0; k < 2 * i; k++) {
            double product = 0.0, *other = g->q[k % i];
            for (size_t j = 0; j < g->d; j++) product += row[j] * other[j];
            for (size_t j = 0; j < g->d; j++) row[j] -= product * other[j];
        }
        for (size_t j = 0; j < g->d; j++) square += row[j] * row[j];
        for (size_t j = 0; j < g->d; j++) row[j] /= sqrt(square);
    }
}

static void make_gaussian(gaussian *g, size_t d, double condition, bool axes)
{
    *g = (gaussian){.d = d, .condition = condition};
    for (size_t i = 0; i < d; i++) {
        g->s[i] = pow(condition, (double)i / (double)(d - 1));
        g->q[i][i] = 1.0;
    }
    if (!axes) rotate_axes(g);
}

/* sum_i Q_ij Q_ik s_i f_i */
static double covariance(const gaussian *g, const double *f, size_t j, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i < g->d; i++)
        sum += g->q[i][j] * g->q[i][k] * g->s[i] * (f ? f[i] : 1.0);
    return sum;
}

static void write_covariance(const gaussian *g, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) give_up(path, &(sbps_error){.text = "cannot be written"});
    for (size_t j = 0; j < g->d; j++) fprintf(file, "c%zu%c", j, j + 1 < g->d ? ',' : '\n');
    for (size_t i = 0; i < g->d; i++)
        for (size_t j = 0; j < g->d; j++)
            fprintf(file, "%.17g%c", covariance(g, NULL, i, j), j + 1 < g->d ? ',' : '\n');
    fclose(file);
}

/* ---- runs ---- */

/* f of every axis, mean over the chains, and the largest part of it that is not known. */
static double expected(const gaussian *g, const expectation *e, const sbps_run *run, double *f)
{
    double wander = 0.0;
    for (size_t i = 0; i < g->d; i++) {
        f[i] = 0.0;
        for (size_t c = 0; c < run->chain_count; c++) {
            const sampler *s = &run->chains[c].s;
            double l = strcmp(run->plan->metric->name, "dense") ? 1.0 / g->s[i] : 1.0,
                   one = 0.0;
            f[i] += e->covariance(s, i, s->settings->step_size * l, &one) /
                    (double)run->chain_count;
            wander = fmax(wander, one);
        }
    }
    return wander;
}

static void compare(const gaussian *g, const expectation *e, const char *what,
                    const sbps_run *run)
{
    double f[MAX_DIM], worst[2] = {0}, smallest = INFINITY;
    double wander = expected(g, e, run, f), excess = 0.0;
    for (size_t j = 0; j < g->d; j++) {
        moment_summary m = moments_summarize(run->moments_of, run->chain_count, j);
        double theory = covariance(g, f, j, j), got = m.sd * m.sd;
        double error = theory * sqrt(2.0 / m.ess_square);
        double off = fmax(fabs(got - theory) - wander * theory, 0.0);
        worst[0] = fmax(worst[0], fabs(m.mean) / m.mcse);
        worst[1] = fmax(worst[1], off / error);
        smallest =
            fmin(smallest, run->plan->sampler->means_suffice ? m.ess_mean
                                                             : fmin(m.ess_mean, m.ess_square));
        excess += (got / theory - 1.0) / (double)g->d;
    }
    printf("d %3zu, condition %5g, %-42s worst z: means %.2f, variances %.2f; "
           "variances over the expected %+.3f; ESS %.0f\n",
           g->d, g->condition, what, worst[0], worst[1], excess, smallest);
    CHECK(smallest >= ess_of(g->d));
    CHECK(worst[0] <= MAX_Z);
    CHECK(worst[1] <= MAX_Z);
    for (size_t c = 0; c < run->chain_count; c++)
        if (sampler_find(e->sampler)->bounded) CHECK(run->chains[c].counts->violations == 0);
}

static void check_refused(const expectation *e, sbps_status status, const sbps_error *err)
{
    CHECK(status == SBPS_BAD_ARG);
    if (sampler_find(e->sampler)->conditional) {
        CHECK(strstr(err->text, "sweep draws the effects of groups, and this model has none"));
        return;
    }
    CHECK(strstr(err->text, e->sampler) && strstr(err->text, "logistic has"));
    CHECK(strstr(err->text, "gaussian has not; sbps takes any model"));
}

static void sample(const gaussian *g, const expectation *e, const char *path)
{
    char all[512], what[128];
    double noise = e->noise / sqrt(g->condition);
    const char *extra = g->condition > 1.0 && e->tall ? e->tall : "";
    sbps_error err = {0};
    sbps_table *none = NULL;
    sbps_run *run = NULL;
    bool finished = false;
    snprintf(what, sizeof what, "%s %s %s", e->sampler, e->settings ? e->settings : "", extra);
    snprintf(all, sizeof all,
             "model=gaussian covariance=%s ess=%g seed=3 gradient-noise=%g sampler=%s", path,
             ess_of(g->d), noise, what);
    sbps_options *options = options_of(all);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    sbps_status status = sbps_run_create(none, options, &run, &err);
    if (!e->covariance) check_refused(e, status, &err);
    if (e->covariance && status != SBPS_OK) give_up(what, &err);
    while (run && !finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up(what, &err);
    if (run) compare(g, e, what, run);
    sbps_run_destroy(run);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

/* The whole table, at one dimension and condition number. */
static void walk(size_t d, double condition)
{
    static gaussian g;
    char path[256];
    temporary_name(sizeof path, path);
    for (size_t e = 0; e < EXPECTATIONS; e++) {
        const expectation *one = &expectations[e];
        if (one->dim_max && d > one->dim_max) continue; /* the sampler has another row */
        make_gaussian(&g, d, condition, one->axes);
        write_covariance(&g, path);
        sample(&g, one, path);
    }
    unlink(path);
}

TEST(two_parameters)
{
    walk(2, 1.0);
    walk(2, TALL);
}

TEST(ten_parameters)
{
    walk(10, 1.0);
    walk(10, TALL);
}

TEST(hundred_parameters_round)
{
    walk(100, 1.0);
}

TEST(hundred_parameters_tall)
{
    walk(100, TALL);
}

CHECK_MAIN
