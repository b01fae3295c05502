/* Runs of `sweep`: normal rows with two crossed factors agree with a quadrature in closed form;
 * other tables agree with nuts, which shares no code with it beyond likelihoods and priors; the
 * number of threads and an interruption change no bit; what it cannot do is refused. */
#include "check.h"
#include "core/rng.h"
#include "linalg/cholesky.h"
#include "stat/sample.h"

#include <unistd.h>

/* ---- normal rows in closed form ----
 *
 * Given the sds s_g, s_h and sigma the intercept b and the effects are normal, and
 *
 *   log p(s_g, s_h, sigma | y) = v'P^-1 v / 2 - log|P|/2 - n log sigma - y'y/(2 sigma^2)
 *                                - G log s_g - H log s_h + log priors,                   (1)
 *
 * with P their precision and v = Z'y / sigma^2; the rest is a sum over a grid. */

#define G       ((size_t)8)
#define H       ((size_t)5)
#define ROWS    ((size_t)70)
#define UNKNOWN (1 + G + H)
#define GRID    ((size_t)40)
#define PRIORS  "prior-intercept=normal(0,2) prior-sd=exponential(1) prior-sigma=exponential(1) "

typedef struct {
    double y[ROWS], cross[UNKNOWN * UNKNOWN], pull[UNKNOWN], square;
} normal_table;

static void write_normal(normal_table *t, const char *path)
{
    rng r = rng_stream(5, 0, RNG_TEST);
    double u[G + H];
    FILE *file = fopen(path, "w");
    memset(t, 0, sizeof *t);
    for (size_t l = 0; l < G + H; l++)
        u[l] = l < G ? 0.4 * ((double)l - 3.5) : 0.6 * ((double)(l - G) - 2.0);
    fprintf(file, "y,g,h\n");
    for (size_t i = 0; i < ROWS; i++) {
        size_t g = i % G, h = (i * i + i / G) % H;
        const size_t at[] = {0, 1 + g, 1 + G + h};
        char text[32];
        snprintf(text, sizeof text, "%.6f", 0.4 + u[g] + u[G + h] + 0.7 * rng_normal(&r));
        fprintf(file, "%s,a%zu,b%zu\n", text, g, h);
        double y = atof(text);
        t->square += y * y;
        for (size_t a = 0; a < 3; a++) {
            t->pull[at[a]] += y;
            for (size_t b = 0; b < 3; b++) t->cross[at[a] * UNKNOWN + at[b]] += 1.0;
        }
    }
    fclose(file);
}

/* (1) at the logarithms x of s_g, s_h and sigma; their Jacobian included. *b: the mean of the
 * intercept, *b2: of its square. */
static double log_density(const normal_table *t, const double *x, double *b, double *b2)
{
    double p[UNKNOWN * UNKNOWN], v[UNKNOWN], e[UNKNOWN] = {1.0}, tau = exp(-2.0 * x[2]);
    double value = -(double)ROWS * x[2] - 0.5 * tau * t->square;
    for (size_t i = 0; i < UNKNOWN * UNKNOWN; i++) p[i] = tau * t->cross[i];
    for (size_t i = 0; i < UNKNOWN; i++) {
        v[i] = tau * t->pull[i];
        p[i * UNKNOWN + i] += i == 0 ? 0.25 : exp(-2.0 * x[i <= G ? 0 : 1]);
    }
    cholesky(UNKNOWN, p);
    double mean[UNKNOWN];
    memcpy(mean, v, sizeof mean);
    cholesky_solve(UNKNOWN, p, mean);
    cholesky_solve(UNKNOWN, p, e);
    for (size_t i = 0; i < UNKNOWN; i++)
        value += 0.5 * v[i] * mean[i] - log(p[i * UNKNOWN + i]);
    value -= (double)G * x[0] + (double)H * x[1];
    for (size_t a = 0; a < 3; a++) value += x[a] - exp(x[a]);
    *b = mean[0];
    *b2 = mean[0] * mean[0] + e[0];
    return value;
}

/* out: the intercept, s_g, s_h, sigma. */
static void integrate(const normal_table *t, known out[4])
{
    static const double low[] = {-1.2, -1.3, -0.85}, high[] = {1.6, 1.9, 0.35};
    double top = -INFINITY, total = 0.0, m[4][4] = {{0.0}}, b = 0.0, b2 = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < GRID * GRID * GRID; i++) {
            const size_t at[] = {i % GRID, i / GRID % GRID, i / GRID / GRID};
            double x[3], mean, square;
            for (size_t a = 0; a < 3; a++)
                x[a] = low[a] + (high[a] - low[a]) * ((double)at[a] + 0.5) / (double)GRID;
            double value = log_density(t, x, &mean, &square);
            if (pass == 0) {
                top = fmax(top, value);
                continue;
            }
            double mass = exp(value - top);
            total += mass;
            b += mass * mean;
            b2 += mass * square;
            for (size_t a = 0; a < 3; a++)
                for (int p = 0; p < 4; p++) m[a][p] += mass * pow(exp(x[a]), p + 1);
        }
    b /= total;
    b2 = b2 / total - b * b;
    out[0] = (known){b, sqrt(b2), 3.3 * b2 * b2}; /* nearly normal */
    for (size_t a = 0; a < 3; a++) {
        for (int p = 0; p < 4; p++) m[a][p] /= total;
        double c = m[a][0], variance = m[a][1] - c * c;
        double fourth = m[a][3] - 4.0 * c * m[a][2] + 6.0 * c * c * m[a][1] - 3.0 * pow(c, 4.0);
        out[a + 1] = (known){c, sqrt(variance), fourth};
    }
}

TEST(normal_rows_agree_with_quadrature)
{
    char path[256];
    normal_table t;
    known truth[4];
    temporary_name(sizeof path, path);
    write_normal(&t, path);
    integrate(&t, truth);
    sbps_error err;
    sbps_options *o =
        options_of(PRIORS "sampler=sweep family=gaussian seed=3 ess=20000 ranef=none");
    sbps_table *table;
    REQUIRE(sbps_options_set(o, "formula", "y ~ 1 + (1 | g) + (1 | h)", &err) == SBPS_OK);
    REQUIRE(sbps_table_read(path, o, NULL, &table, &err) == SBPS_OK);
    sbps_result *r = sample_table(table, o);
    REQUIRE(r->dim == 4);
    for (size_t j = 0; j < 4; j++) check_moments("normal rows", r, j, truth[j], 0.0);
    CHECK(r->info.bias_estimate == 0.0);
    sbps_result_destroy(r);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    unlink(path);
}

/* ---- other tables, by nuts ---- */

typedef struct {
    const char *family, *formula, *more; /* more: options of both runs */
    size_t rows, g, h;
    bool nested;
} table_case;

static double draw_target(const char *family, double eta, rng *r)
{
    if (!strcmp(family, "gaussian")) return eta + 0.7 * rng_normal(r);
    if (!strcmp(family, "poisson")) {
        double limit = exp(-exp(eta)), product = rng_uniform(r), count = 0.0;
        for (; product > limit; count++) product *= rng_uniform(r);
        return count;
    }
    return rng_uniform(r) < 1.0 / (1.0 + exp(-eta)) ? 1.0 : 0.0;
}

/* Columns: y; x; c, constant within levels of g; w, a weight; g and h. */
static void write_case(const table_case *c, const char *path)
{
    rng r = rng_stream(6, c->rows, RNG_TEST);
    double u[256], v[256];
    for (size_t l = 0; l < c->g + c->h; l++) {
        u[l] = (l < c->g ? 0.8 : 0.5) * rng_normal(&r);
        v[l] = l < c->g ? 0.4 * rng_normal(&r) + 0.2 * u[l] : 0.0;
    }
    FILE *file = fopen(path, "w");
    fprintf(file, "y,x,c,w,g,h\n");
    for (size_t i = 0; i < c->rows; i++) {
        size_t g = rng_below(&r, c->g), h = rng_below(&r, c->h);
        if (c->nested) g = h % c->g; /* h lies within g */
        double x = 2.0 + rng_normal(&r);
        double eta = 0.2 + 0.4 * (x - 2.0) + u[g] + v[g] * (x - 2.0) + u[c->g + h];
        double y = draw_target(c->family, eta, &r);
        fprintf(file, "%.6g,%.5f,%.1f,%d,a%zu,b%zu\n", y, x, (double)(g % 5) - 2.0,
                1 + (int)(i % 3), g, h);
    }
    fclose(file);
}

static sbps_result *sample_case(const table_case *c, const char *path, const char *settings)
{
    char all[512];
    sbps_error err;
    sbps_table *table = NULL;
    snprintf(all, sizeof all, "family=%s ranef=all %s %s", c->family, c->more, settings);
    sbps_options *o = options_of(all);
    if (sbps_options_set(o, "formula", c->formula, &err) != SBPS_OK ||
        sbps_table_read(path, o, NULL, &table, &err) != SBPS_OK)
        give_up(path, &err);
    sbps_result *r = sample_table(table, o);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    return r;
}

static void compare_with_nuts(table_case c)
{
    char path[256], settings[128];
    double square = 0.0, wide = 0.0, ess = check_size(800.0, 10000.0, 40000.0);
    temporary_name(sizeof path, path);
    write_case(&c, path);
    snprintf(settings, sizeof settings, "sampler=sweep seed=8 ess=%g", ess);
    sbps_result *a = sample_case(&c, path, settings);
    snprintf(settings, sizeof settings, "crossed=joint sampler=nuts seed=9 ess=%g", ess);
    sbps_result *b = sample_case(&c, path, settings);
    CHECK(a->dim == b->dim && !strcmp(a->info.sampler, "sweep"));
    for (size_t j = 0; j < a->dim; j++) {
        double error = hypot(a->mcse[j], b->mcse[j]), z = (a->mean[j] - b->mean[j]) / error;
        double ratio = log(a->sd[j] / b->sd[j]);
        CHECK(!strcmp(a->names[j], b->names[j]));
        if (fabs(z) > MAX_Z || fabs(ratio) > 0.2)
            printf("%s: %s: mean %.4g and %.4g, z = %.2f; sd %.4g and %.4g\n", c.formula,
                   a->names[j], a->mean[j], b->mean[j], z, a->sd[j], b->sd[j]);
        CHECK(fabs(z) <= MAX_Z && fabs(ratio) <= 0.2);
        square += z * z / (double)a->dim;
        wide += ratio / (double)a->dim;
    }
    printf("%s %s: %zu parameters, z of means %.3g, root mean square; mean log ratio of sds "
           "%.3f\n",
           c.family, c.formula, a->dim, sqrt(square), wide);
    CHECK(sqrt(square) < 2.2 && fabs(wide) < 0.03);
    sbps_result_destroy(a);
    sbps_result_destroy(b);
    unlink(path);
}

TEST(logistic_rows_with_slopes_agree_with_nuts)
{
    compare_with_nuts((table_case){.family = "bernoulli",
                                   .formula = "y ~ x + c + (1 + x | g) + (1 | h)",
                                   .more = "",
                                   .rows = 400,
                                   .g = 12,
                                   .h = 8});
}

TEST(poisson_rows_of_nested_factors_agree_with_nuts)
{
    compare_with_nuts((table_case){.family = "poisson",
                                   .formula = "y ~ x + (1 | g/h)",
                                   .more = "offset=c",
                                   .rows = 300,
                                   .g = 9,
                                   .h = 27,
                                   .nested = true});
}

TEST(normal_rows_with_weights_and_slopes_agree_with_nuts)
{
    compare_with_nuts(
        (table_case){.family = "gaussian",
                     .formula = "y ~ x + c + (1 + x | g) + (0 + x || h) + (1 | h)",
                     .more = "weights=w prior=student_t(3,0,1)",
                     .rows = 400,
                     .g = 15,
                     .h = 10});
}

/* ---- bits ---- */

static void same_draws(const sbps_result *a, const sbps_result *b)
{
    REQUIRE(a->dim == b->dim && a->chains == b->chains && a->draws == b->draws);
    CHECK(!memcmp(a->w, b->w, a->dim * a->chains * a->draws * sizeof *a->w));
    CHECK(!memcmp(a->mean, b->mean, a->dim * sizeof *a->mean));
}

static void check_bits(table_case c)
{
    char path[256], checkpoint[256], settings[512];
    temporary_name(sizeof path, path);
    temporary_name(sizeof checkpoint, checkpoint);
    unlink(checkpoint);
    write_case(&c, path);
    sbps_result *one = sample_case(&c, path, "sampler=sweep seed=4 ess=800 threads=1");
    sbps_result *many = sample_case(&c, path, "sampler=sweep seed=4 ess=800 threads=7");
    same_draws(one, many);
    snprintf(settings, sizeof settings, "sampler=sweep seed=4 ess=200 threads=3 checkpoint=%s",
             checkpoint);
    sbps_result *part = sample_case(&c, path, settings);
    snprintf(settings, sizeof settings, "sampler=sweep seed=4 ess=800 threads=2 resume=%s",
             checkpoint);
    sbps_result *resumed = sample_case(&c, path, settings);
    same_draws(one, resumed);
    sbps_result_destroy(one);
    sbps_result_destroy(many);
    sbps_result_destroy(part);
    sbps_result_destroy(resumed);
    unlink(path);
    unlink(checkpoint);
}

TEST(threads_and_an_interruption_change_no_bit)
{
    check_bits((table_case){.family = "bernoulli",
                            .formula = "y ~ x + (1 + x | g) + (1 | h)",
                            .more = "",
                            .rows = 300,
                            .g = 10,
                            .h = 6});
    check_bits((table_case){.family = "gaussian",
                            .formula = "y ~ x + (1 + x | g) + (1 | h)",
                            .more = "",
                            .rows = 300,
                            .g = 10,
                            .h = 6});
}

CHECK_MAIN
