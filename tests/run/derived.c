/* Quantities reported in place of coordinates: correlations of three and more effects, and
 * effects of levels that are coordinates. */
#include "check.h"
#include "estimate/diagnostics.h"
#include "inference/autotune/run_plan.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "linalg/random_variates.h"
#include "model/mixed/mixed.h"

#include "inference/run/describe.h"
#include "inference/run/group_effects.h"
#include "stat/sample.h"
#include "store/result.h"

#define GROUPS 12
#define EACH   8

/* Normal rows, with `effects` columns whose slopes vary between groups. */
static void write_table(const char *path, size_t columns)
{
    FILE *file = fopen(path, "w");
    rng random = rng_stream(11, 0, RNG_TEST);
    fprintf(file, "y,g");
    for (size_t j = 0; j < columns; j++) fprintf(file, ",%c", (char)('a' + j));
    for (size_t g = 0; g < GROUPS; g++) {
        double u[4] = {0.0};
        for (size_t j = 0; j <= columns; j++) u[j] = rng_normal(&random) + 0.5 * u[0];
        for (size_t i = 0; i < EACH; i++) {
            double x[3], y = u[0] + rng_normal(&random);
            for (size_t j = 0; j < columns; j++) {
                x[j] = rng_normal(&random);
                y += u[j + 1] * x[j];
            }
            fprintf(file, "\n%.6f,L%zu", y, g);
            for (size_t j = 0; j < columns; j++) fprintf(file, ",%.6f", x[j]);
        }
    }
    fprintf(file, "\n");
    fclose(file);
}

typedef struct {
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
    sbps_result *r;
} outcome;

static sbps_table *table_of(size_t columns, const sbps_options *options)
{
    char path[256];
    sbps_error err = {0};
    sbps_table *table;
    temporary_name(sizeof path, path);
    write_table(path, columns);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
    return table;
}

/* change: modifies the model's kind before it is opened; NULL: none. */
static outcome outcome_of(size_t columns, const char *settings, void (*change)(model_kind *))
{
    outcome o = {.options = options_of(settings)};
    sbps_error err = {0};
    bool finished = false;
    o.table = table_of(columns, o.options);
    for (model_kind *kind = o.table->data->storage.owner; kind->name && change; kind++)
        change(kind);
    if (sbps_run_create(o.table, o.options, &o.run, &err) != SBPS_OK) give_up("run", &err);
    while (!finished)
        if (sbps_run_advance(o.run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    if (sbps_result_from_run(o.run, &o.r, &err) != SBPS_OK) give_up("result", &err);
    return o;
}

static void outcome_close(outcome *o)
{
    sbps_result_destroy(o->r);
    sbps_run_destroy(o->run);
    sbps_table_destroy(o->table);
    sbps_options_destroy(o->options);
}

static size_t place_of(const sbps_result *r, const char *name)
{
    for (size_t j = 0; j < r->dim; j++)
        if (!strcmp(r->names[j], name)) return j;
    return SIZE_MAX;
}

/* ---- correlations ---- */

#define NONE "ranef=none"
#define THREE                                                                                  \
    "model=linear formula=y~a+b+(1+a+b|g) prior-cor=lkj(3) seed=5 sampler=hmc ess=50 "         \
    "draws=50 chains=2"

/* For three effects: r_12 = p_01 p_02 + p_12|0 sqrt(1 - p_01^2) sqrt(1 - p_02^2). */
static double by_hand(const double *w)
{
    double first = tanh(w[6]), second = tanh(w[7]), given = tanh(w[8]);
    return first * second + given * sqrt((1.0 - first * first) * (1.0 - second * second));
}

static void check_draws(const outcome *o, size_t at)
{
    const result *r = o->r;
    double *drawn = malloc(r->chains * r->draws * sizeof *drawn);
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        const double *w = o->run->chains[i / r->draws].d.w + i % r->draws * r->dim;
        drawn[i] = by_hand(w);
        CHECK_NEAR(r->w[i * r->dim + at], drawn[i], TOL_SUM);
    }
    draw_summary s;
    CHECK(summarize_draws(r->chains, r->draws, drawn, &s, NULL) == SBPS_OK);
    CHECK_NEAR(r->mean[at], s.mean, TOL_SUM);
    CHECK_NEAR(r->sd[at], s.sd, TOL_SUM);
    CHECK_NEAR(r->mcse[at], s.mcse_mean, TOL_DIFF);
    free(drawn);
}

/* The prior as requested, with the width that a correlation of two of three effects has under
 * it. */
static void check_prior(const outcome *o)
{
    const result *r = o->r;
    char *printed;
    for (size_t j = 6; j <= 8; j++) {
        CHECK(!strcmp(r->prior[j], "lkj(3)"));
        CHECK_NEAR(r->prior_sd[j], 1.0 / sqrt(2.0 * 3.5 + 1.0), TOL_ROUND);
        CHECK(r->seen_mean[j] == r->mean[j]);
    }
    CHECK(run_describe(o->run, &printed, NULL) == SBPS_OK);
    CHECK(strstr(printed, "cor_g__Intercept__a .. cor_g__a__b (3) ~ lkj(3)"));
    CHECK(!strstr(printed, "partial"));
    free(printed);
}

static void check_file(const outcome *o)
{
    char path[256];
    sbps_result *back;
    temporary_name(sizeof path, path);
    CHECK(result_write_netcdf(o->r, path, NULL) == SBPS_OK);
    CHECK(result_read_netcdf(path, &back, NULL) == SBPS_OK);
    CHECK(result_same(o->r, back));
    sbps_result_destroy(back);
    unlink(path);
}

TEST(correlations_are_those_of_the_draws)
{
    outcome o = outcome_of(2, THREE " " NONE, NULL);
    const result *r = o.r;
    CHECK(r->dim == o.run->target->dim && place_of(r, "cor_g__a__b") == 8);
    CHECK(!strcmp(o.run->report.coordinates[8], "partial_cor_g__a__b"));
    CHECK(place_of(r, "cor_g__Intercept__a") == 6 && place_of(r, "cor_g__Intercept__b") == 7);
    check_draws(&o, 8);
    check_prior(&o);
    check_file(&o);
    outcome_close(&o);
}

/* ---- their distribution ---- */

#define PRIOR_DRAWS 40000

/* Draws from the density proportional to (1 - x^2)^(eta - 1). */
static double draw_correlation(rng *random, double eta)
{
    double a = draw_log_gamma(random, eta), b = draw_log_gamma(random, eta);
    return tanh(0.5 * (a - b));
}

/* x^2 and x^4 have the means implied by (1 + x)/2 ~ beta(a, a). */
static void check_powers(const char *what, double square, double fourth, double eighth,
                         double a)
{
    double n = PRIOR_DRAWS, second = 1.0 / (2.0 * a + 1.0),
           of_four = 3.0 * second / (2.0 * a + 3);
    double z = (square / n - second) / sqrt((of_four - second * second) / n);
    double z_four = (fourth / n - of_four) / sqrt((eighth / n - of_four * of_four) / n);
    if (fabs(z) > MAX_Z || fabs(z_four) > MAX_Z) {
        printf("%s: z = %.2f, %.2f\n", what, z, z_four);
        check_failures++;
    }
}

TEST(under_their_prior_all_have_the_same_distribution)
{
    sbps_options *options =
        options_of("model=linear formula=y~a+b+c+(1+a+b+c|g) prior-cor=lkj(2)");
    sbps_table *table = table_of(3, options);
    const model_kind *model;
    posterior *u;
    rng random = rng_stream(2, 0, RNG_TEST);
    CHECK(plan_model(options, table->data, &model, NULL) == SBPS_OK);
    CHECK(target_open(options, table->data, model, &u, NULL) == SBPS_OK);
    size_t first = 8, count = 6; /* after 4 weights and 4 sds */
    double w[16] = {0.0}, moment[6][3] = {{0.0}};
    for (size_t i = 0; i < PRIOR_DRAWS; i++) {
        double value[6];
        for (size_t j = 0; j < count; j++) {
            value[j] = draw_correlation(&random, u->priors[first + j].theta[0]);
            w[first + j] = atanh(value[j]);
        }
        model->reported.values(u->self, w, first, count, value);
        for (size_t j = 0; j < count; j++)
            for (int k = 0; k < 3; k++) moment[j][k] += pow(value[j], 2 << k);
    }
    for (size_t j = 0; j < count; j++) {
        char name[64];
        posterior_reported_name(u, first + j, sizeof name, name);
        check_powers(name, moment[j][0], moment[j][1], moment[j][2], 2.0 + 4.0 / 2.0 - 1.0);
    }
    posterior_destroy(u);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

/* ---- effects that are coordinates ---- */

/* Coordinate 1 is reported as its half. */
static bool half_is_coordinate(const void *self, size_t j, model_derived *out)
{
    (void)self;
    *out = (model_derived){.effect = true, .alike = SIZE_MAX};
    return j == 1;
}

static void half_name(const void *self, size_t j, size_t size, char *text)
{
    (void)self;
    (void)j;
    snprintf(text, size, "r_h[one,a]");
}

static void report_twice(const void *self, const double *w, size_t first, size_t count,
                         double *out)
{
    (void)self;
    for (size_t i = 0; i < count; i++)
        if (first + i == 1) out[i] = 2.0 * w[1];
}

static void hide_one(model_kind *kind)
{
    kind->reported.describe = half_is_coordinate;
    kind->reported.name = half_name;
    kind->reported.values = report_twice;
}

#define ONE "model=linear formula=y~a+(1|g) seed=5 ess=200 draws=200 chains=2 "

TEST(effects_that_are_coordinates_are_left_out)
{
    outcome plain = outcome_of(1, ONE NONE, NULL), o = outcome_of(1, ONE NONE, hide_one);
    const result *r = o.r, *all = plain.r;
    CHECK(r->dim == all->dim - 1 && r->draws == all->draws);
    for (size_t j = 0; j < r->dim; j++) {
        size_t from = j < 1 ? j : j + 1;
        CHECK(!strcmp(r->names[j], all->names[from]) && !strcmp(r->prior[j], all->prior[from]));
        CHECK(r->mean[j] == all->mean[from] && r->prior_sd[j] == all->prior_sd[from]);
        for (size_t i = 0; i < r->chains * r->draws; i++)
            CHECK(r->w[i * r->dim + j] == all->w[i * all->dim + from]);
    }
    char *printed;
    CHECK(run_describe(o.run, &printed, NULL) == SBPS_OK);
    CHECK(strstr(printed, "96 rows, 3 parameters") && !strstr(printed, "prior     a "));
    free(printed);
    outcome_close(&o);
    outcome_close(&plain);
}

TEST(effects_that_are_coordinates_are_reported_on_request)
{
    outcome plain = outcome_of(1, ONE NONE, NULL), o = outcome_of(1, ONE "ranef=all", hide_one);
    const result *r = o.r, *all = plain.r;
    size_t at = all->dim - 1;
    CHECK(r->dim == all->dim + GROUPS && place_of(r, "r_h[one,a]") == at);
    CHECK(place_of(r, "r_g[L0,Intercept]") == at + 1);
    for (size_t i = 0; i < r->chains * r->draws; i++)
        CHECK(r->w[i * r->dim + at] == 2.0 * all->w[i * all->dim + 1]);
    /* in its own sds: the doubled quantity has the same bias. Sds of the path and of the draws
     * differ a little */
    CHECK(all->bias_se[1] > 0.0);
    CHECK_NEAR(r->bias[at], all->bias[1], 0.2 * fabs(all->bias[1]));
    CHECK_NEAR(r->bias_se[at], all->bias_se[1], 0.2 * all->bias_se[1]);
    CHECK(isnan(r->sd_bias[at]) && isnan(r->prior_sd[at]) && !*r->prior[at]);
    outcome_close(&o);
    outcome_close(&plain);
}

TEST(effects_that_are_coordinates_are_in_the_file)
{
    outcome o = outcome_of(1, ONE NONE, hide_one);
    char path[256], line[512] = "";
    size_t lines = 0;
    double mean = 0.0;
    temporary_name(sizeof path, path);
    CHECK(sbps_run_effects(o.run, path, NULL, NULL) == SBPS_OK);
    FILE *file = fopen(path, "r");
    for (char next[512]; fgets(next, sizeof next, file); lines++) strcpy(line, next);
    fclose(file);
    unlink(path);
    CHECK(lines == 1 + GROUPS + 1);
    CHECK(sscanf(line, "\"r_h[one,a]\",%lf", &mean) == 1);
    double sum = 0.0, count = (double)(o.r->chains * o.r->draws);
    for (size_t c = 0; c < o.r->chains; c++)
        for (size_t i = 0; i < o.r->draws; i++)
            sum += 2.0 * o.run->chains[c].d.w[i * o.run->target->dim + 1];
    CHECK_NEAR(mean, sum / count, 1e-8);
    outcome_close(&o);
}

/* By sizes alone: 500 MB are 62.5 million draws. */
TEST(draws_of_effects_are_kept_up_to_a_size)
{
    CHECK(effects_rule("auto", 7812, 8000) == EFFECTS_DRAWS);
    CHECK(effects_rule("auto", 62500, 1000) == EFFECTS_DRAWS);
    CHECK(effects_rule("auto", 62500, 1001) == EFFECTS_MOMENTS);
    CHECK(effects_rule("auto", 1e9, 8000) == EFFECTS_MOMENTS);
    CHECK(effects_rule("auto", 0, 8000) == EFFECTS_NONE);
    CHECK(effects_rule("all", 1e9, 8000) == EFFECTS_DRAWS);
    CHECK(effects_rule("none", 1, 1) == EFFECTS_NONE);
    CHECK(effects_rule("effects.csv", 1, 1) == EFFECTS_NONE);
}

TEST(a_plain_run_keeps_what_all_keeps)
{
    outcome plain = outcome_of(1, ONE, NULL), all = outcome_of(1, ONE "ranef=all", NULL);
    CHECK(effects_count(plain.run) == GROUPS && plain.r->dim == all.r->dim);
    CHECK(effects_bytes(plain.run, GROUPS) == GROUPS * 2.0 * 200 * 2 * 8);
    for (size_t i = 0; i < plain.r->chains * plain.r->draws * plain.r->dim; i++)
        CHECK(plain.r->w[i] == all.r->w[i]);
    outcome_close(&plain);
    outcome_close(&all);
}

/* Drawing effects may take minutes; a batch system kills the job earlier after its signal. */
TEST(effects_are_left_out_after_an_interrupt)
{
    outcome o = outcome_of(1, ONE "ranef=all", NULL);
    result *r;
    sbps_error err;
    char path[256];
    temporary_name(sizeof path, path);
    unlink(path);
    CHECK(o.r->dim == o.run->target->dim + GROUPS);
    sbps_run_interrupt(o.run);
    CHECK(sbps_result_from_run(o.run, &r, &err) == SBPS_OK);
    CHECK(r->dim == o.run->target->dim && r->draws == o.r->draws);
    for (size_t j = 0; j < r->dim; j++) {
        CHECK(!strcmp(r->names[j], o.r->names[j]) && r->mean[j] == o.r->mean[j]);
        for (size_t i = 0; i < r->chains * r->draws; i++)
            CHECK(r->w[i * r->dim + j] == o.r->w[i * o.r->dim + j]);
    }
    CHECK(sbps_run_effects(o.run, path, NULL, &err) == SBPS_INTERRUPTED);
    CHECK(strstr(err.text, "interrupted") && access(path, F_OK) != 0);
    sbps_result_destroy(r);
    outcome_close(&o);
}

CHECK_MAIN
