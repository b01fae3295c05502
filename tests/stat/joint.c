/* Crossed factors without integrals: the posterior is that of the method that integrates over
 * one of them; with tens of thousands of effects it covers the truth, in few passes over the
 * rows and memory far below that of a matrix. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#include <sys/resource.h>

typedef struct {
    size_t rows, g, h;
    double sd_g, sd_h;
    bool linear;
    const char *formula; /* NULL: both factors crossed */
    double *u;           /* g + h: effects */
} crossed_spec;

/* Rows have random levels; each level occurs. */
static void write_table(crossed_spec *s, char path[256])
{
    temporary_name(256, path);
    FILE *f = fopen(path, "w");
    rng r = rng_stream(8, s->rows, RNG_TEST);
    s->u = calloc(s->g + s->h, sizeof *s->u);
    for (size_t l = 0; l < s->g + s->h; l++)
        s->u[l] = (l < s->g ? s->sd_g : s->sd_h) * rng_normal(&r);
    fprintf(f, "y,x,g,h\n");
    for (size_t i = 0; i < s->rows; i++) {
        size_t g = i < s->g ? i : (size_t)(rng_uniform(&r) * (double)s->g);
        size_t h = i < s->h ? s->h - 1 - i : (size_t)(rng_uniform(&r) * (double)s->h);
        double x = rng_normal(&r), eta = -0.3 + 0.5 * x + s->u[g] + s->u[s->g + h];
        double y = s->linear ? eta + 0.5 * rng_normal(&r)
                             : (double)(rng_uniform(&r) < 1.0 / (1.0 + exp(-eta)));
        fprintf(f, "%.6g,%.5f,a%zu,b%zu\n", y, x, g, h);
    }
    fclose(f);
}

static sbps_result *sample(const char *path, const crossed_spec *s, const char *settings)
{
    const char *formula = s->formula ? s->formula : "y ~ x + (1 | g) + (1 | h)";
    sbps_error err = {0};
    sbps_table *table = NULL;
    sbps_options *options = options_of(settings);
    if (!strstr(settings, "sampler=")) sbps_options_set(options, "sampler", "auto", &err);
    if (sbps_options_set(options, "formula", formula, &err) != SBPS_OK ||
        sbps_options_set(options, "family", s->linear ? "gaussian" : "bernoulli", &err) !=
            SBPS_OK ||
        sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK)
        give_up(path, &err);
    sbps_result *r = sample_table(table, options);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

static size_t find(const sbps_result *r, const char *name)
{
    for (size_t j = 0; j < r->dim; j++)
        if (!strcmp(r->names[j], name)) return j;
    printf("there is no %s\n", name);
    exit(EXIT_FAILURE);
}

/* By integrals over the effects of one factor, and by all effects together. `both`: settings
 * of both runs. */
static void compare(crossed_spec s, const char *both, const char *own, const char *sampler)
{
    char base[256], settings[256];
    snprintf(base, sizeof base, "crossed=integrate seed=1 ranef=all %s", both);
    snprintf(settings, sizeof settings, "seed=2 ranef=all %s %s", both, own);
    char path[256];
    double square = 0.0;
    write_table(&s, path);
    sbps_result *a = sample(path, &s, base);
    sbps_result *b = sample(path, &s, settings);
    CHECK(!strcmp(b->info.sampler, sampler) && strcmp(a->info.sampler, "nuts"));
    CHECK(a->dim == b->dim);
    for (size_t j = 0; j < a->dim; j++) {
        size_t k = find(b, a->names[j]);
        double error = hypot(a->mcse[j], b->mcse[k]), z = (a->mean[j] - b->mean[k]) / error;
        CHECK(fabs(z) <= MAX_Z);
        CHECK(fabs(log(a->sd[j] / b->sd[k])) <= 0.15);
        square += z * z / (double)a->dim;
    }
    printf("%zu parameters, z of means %.3g, root mean square\n", a->dim, sqrt(square));
    CHECK(sqrt(square) < 1.4);
    sbps_result_destroy(a);
    sbps_result_destroy(b);
    free(s.u);
    unlink(path);
}

TEST(crossed_factors_have_the_same_posterior_by_both_methods)
{
    crossed_spec s = {.rows = 900, .g = 70, .h = 22, .sd_g = 1.0, .sd_h = 0.6};
    compare(s, "ess=300", "crossed=joint sampler=hmc", "hmc");
    compare(s, "ess=300", "crossed=joint sampler=nuts", "nuts");
}

/* Normal rows, for which integrals are exact. */
TEST(nested_factors_have_the_same_posterior_by_both_methods)
{
    crossed_spec s = {.rows = 600,
                      .g = 12,
                      .h = 5,
                      .sd_g = 1.0,
                      .sd_h = 0.6,
                      .linear = true,
                      .formula = "y ~ x + (1 | g/h)"};
    compare(s, "ess=300", "", "nuts");
}

/* A prior with light tails, so that sds of draws can be compared. */
TEST(few_levels_have_the_same_posterior_by_both_methods)
{
    crossed_spec s = {
        .rows = 300, .g = 3, .h = 2, .sd_g = 0.7, .linear = true, .formula = "y ~ x + (1 | g)"};
    compare(s, "ess=2000 prior-sd=normal(0,1)", "crossed=joint sampler=nuts", "nuts");
    s.linear = false;
    compare(s, "ess=2000 prior-sd=normal(0,1)", "", "nuts");
}

#define PASSES_MAX 500.0 /* of set-up */
#define EACH_MAX   40.0  /* of an effective sample */

/* Squares of (mean - truth) / sd, on average over the effects of a factor. */
static double coverage(const sbps_result *r, const char *group, const double *u, size_t levels)
{
    double square = 0.0;
    char name[64];
    snprintf(name, sizeof name, "r_%s[%c0,Intercept]", group, *group == 'g' ? 'a' : 'b');
    size_t first = find(r, name);
    for (size_t j = first; j < r->dim; j++) {
        size_t level;
        char form[64];
        snprintf(form, sizeof form, "r_%s[%c%%zu,", group, *group == 'g' ? 'a' : 'b');
        if (sscanf(r->names[j], form, &level) != 1) break;
        double z = (r->mean[j] - u[level]) / r->sd[j];
        square += z * z / (double)levels;
    }
    return square;
}

static void check_sd(const sbps_result *r, const char *name, double truth)
{
    size_t j = find(r, name);
    CHECK_Z(r->mean[j], truth, r->sd[j], MAX_Z);
}

TEST(effects_cover_the_truth)
{
    crossed_spec s = {
        .rows = 8000, .g = 900, .h = 700, .sd_g = 1.0, .sd_h = 0.7, .linear = true};
    char path[256];
    write_table(&s, path);
    sbps_result *r = sample(path, &s, "ranef=all chains=2 ess=100 seed=3");
    double g = coverage(r, "g", s.u, s.g), h = coverage(r, "h", s.u + s.g, s.h);
    double passes = r->info.rows_touched / (double)s.rows / r->info.min_ess;
    printf("z^2 of effects %.4f and %.4f; %.3g passes an effective sample\n", g, h, passes);
    CHECK(!strcmp(r->info.sampler, "hmc"));
    CHECK(fabs(g - 1.0) < 5.0 * sqrt(2.0 / (double)s.g) + 0.02);
    CHECK(fabs(h - 1.0) < 5.0 * sqrt(2.0 / (double)s.h) + 0.02);
    CHECK(passes < EACH_MAX);
    check_sd(r, "sd_g__Intercept", s.sd_g);
    check_sd(r, "sd_h__Intercept", s.sd_h);
    sbps_result_destroy(r);
    free(s.u);
    unlink(path);
}

/* Set-up, and some trajectories. */
TEST(many_effects_take_few_passes_and_no_matrix)
{
    crossed_spec s = {
        .rows = 80000, .g = 24000, .h = 21000, .sd_g = 1.0, .sd_h = 0.7, .linear = true};
    char path[256];
    struct rusage used;
    write_table(&s, path);
    sbps_result *r = sample(path, &s, "chains=1 warmup=5 epochs=50 draws=20 seed=3 ranef=none");
    double d = (double)(s.g + s.h);
    getrusage(RUSAGE_SELF, &used);
    double memory = (double)used.ru_maxrss * 1024.0 / (8.0 * d * d);
    printf("set-up %.0f passes, %.3f of a matrix in memory\n", r->info.passes_setup, memory);
    CHECK(r->dim == 5 && !strcmp(r->info.sampler, "hmc"));
    CHECK(r->info.passes_setup < PASSES_MAX);
    CHECK(memory < 0.05);
    sbps_result_destroy(r);
    free(s.u);
    unlink(path);
}

CHECK_MAIN
