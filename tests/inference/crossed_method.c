/* Crossed factors: the method that --crossed auto chooses, and that it needs fewer evaluations
 * of rows. */
#include "inference/options/crossed_method.h"
#include "check.h"
#include "inference/autotune/run_plan.h"
#include "inference/run/run.h"
#include "model/mixed/mixed.h"

#include <stdatomic.h>

#include "stat/sample.h"

/* Normal rows with levels of three factors at random. */
static sbps_table *table_of(size_t n, const size_t *levels, const sbps_options *options)
{
    char path[256];
    sbps_error err = {0};
    sbps_table *table;
    rng r = rng_stream(8, 0, RNG_TEST);
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,a,b,c\n");
    for (size_t i = 0; i < n; i++) {
        size_t of[3];
        for (size_t f = 0; f < 3; f++) of[f] = rng_below(&r, levels[f]);
        double y = sin(7.0 * (double)of[0]) + cos(5.0 * (double)of[1]) +
                   0.7 * sin(3.0 * (double)of[2]) + rng_normal(&r);
        fprintf(file, "%.6f,a%zu,b%zu,c%zu\n", y, of[0], of[1], of[2]);
    }
    fclose(file);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
    return table;
}

#define THREE "model=linear formula=y~1+(1|a)+(1|b)+(1|c) sampler=hmc seed=2 "

#define LEFT "model=linear formula=y~1+(1|a)+(1|b)+(1|c) seed=2 "

#define NESTED "model=linear formula=y~1+(1|a/b) seed=2"

#define GAMMA "model=gamma formula=y~1+(1|a) seed=2"

#define COUNTS "model=poisson formula=y~1+(1|a)+(1|b)+(1|c) seed=2 "

/* ---- the choice ---- */

typedef struct {
    const char *settings;
    size_t rows, levels[3];
    bool joint;
    const char *sampler;
} choice_case;

static const choice_case cases[] = {
    {THREE, 1500, {60, 40, 30}, true, "hmc"},
    {THREE, 40000, {60, 40, 30}, false, "hmc"}, /* a matrix of 70 x 70 is cheap in comparison */
    {THREE, 1500, {60, 8, 5}, false, "hmc"},    /* either method is cheap */
    {THREE "metric=dense", 1500, {60, 40, 30}, false, "hmc"},
    {THREE "crossed=integrate", 1500, {60, 40, 30}, false, "hmc"},
    {THREE "crossed=joint", 1500, {60, 8, 5}, true, "hmc"},
    {"model=linear formula=y~1+(1|a)+(1|b)+(1|c) sampler=boomerang",
     1500,
     {60, 40, 30},
     false,
     "boomerang"},
    {LEFT, 1500, {60, 8, 5}, false, "boomerang"},
    {COUNTS, 1500, {60, 8, 5}, true, "nuts"}, /* a factor of five levels */
    {COUNTS, 1500, {60, 8, 6}, true, "nuts"},
    {COUNTS, 6000, {60, 8, 6}, false, "boomerang"},
    {COUNTS, 6000, {60, 8, 5}, true, "nuts"},
    {LEFT, 900, {60, 8, 6}, true, "nuts"},
    {COUNTS, 40000, {60, 8, 5}, false, "boomerang"},
    {COUNTS "crossed=integrate", 1500, {60, 8, 5}, false, "boomerang"},
    {"model=poisson formula=y~1+(1|a/b) seed=2", 1500, {60, 8, 6}, true, "nuts"},
    {"model=poisson formula=y~1+(1|a/b) seed=2", 1500, {8, 60, 6}, true, "nuts"},
    {NESTED, 1500, {6, 70, 6}, true, "nuts"},   /* 426 effects for few rows */
    {NESTED, 12000, {60, 60, 6}, true, "nuts"}, /* integrals take too long */
    {NESTED, 12000, {120, 5, 6}, false, "boomerang"},
    {NESTED, 12000, {120, 60, 6}, true, "nuts"}, /* parts of two rows */
    {NESTED, 12000, {90, 5, 6}, true, "nuts"},
    {NESTED " sampler=hmc", 1500, {60, 8, 6}, false, "hmc"},
    {NESTED, 40000, {60, 8, 6}, false, "boomerang"},
    {GAMMA, 1500, {60, 1, 1}, true, "hmc"}, /* integrals of gamma functions */
    {GAMMA, 1500, {10, 1, 1}, true, "nuts"},
    {GAMMA, 1500, {70, 1, 1}, false, "boomerang"},
    {GAMMA, 40000, {60, 1, 1}, false, "boomerang"},
    {"model=student_t formula=y~1+(1|a) seed=2", 1500, {60, 1, 1}, false, "boomerang"},
};

TEST(effects_are_sampled_jointly_if_matrices_are_costly)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const choice_case *c = &cases[i];
        sbps_options *options = options_of(c->settings);
        if (!strstr(c->settings, "sampler="))
            CHECK(sbps_options_set(options, "sampler", "auto", NULL) == SBPS_OK);
        sbps_table *table = table_of(c->rows, c->levels, options);
        run_plan plan;
        CHECK(plan_make(options, table->data, &plan, NULL) == SBPS_OK);
        CHECK((plan.model->transformation.apply != NULL) == c->joint);
        CHECK(!strcmp(plan.sampler->name, c->sampler));
        /* a mode and its covariance need matrices */
        const model_kind *of_mode;
        CHECK(plan_model(options, table->data, &of_mode, NULL) == SBPS_OK);
        CHECK((of_mode->transformation.apply != NULL) ==
              !strcmp(sbps_options_get(options, "crossed"), "joint"));
        sbps_table_destroy(table);
        sbps_options_destroy(options);
    }
}

/* ---- costs ---- */

static atomic_ullong
    cells; /* log likelihoods, slopes and curvatures of single rows at single places */
static predictor counted;
static const predictor *of;

static void count_loglik(const batch *b, double *out)
{
    cells += b->n;
    of->loglik(b, out);
}

static void count_gradient(const batch *b, double *d_eta, double *d_aux)
{
    cells += b->n;
    of->gradient(b, d_eta, d_aux);
}

static void count_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    cells += b->n;
    of->curvature(b, ee, ea, aa);
}

/* Evaluations of warm-up and sampling per effective sample. */
static double cells_per_sample(const char *settings)
{
    static const size_t levels[] = {60, 40, 30};
    sbps_options *options = options_of(settings);
    sbps_table *table = table_of(1500, levels, options);
    sbps_run *run;
    sbps_result *r;
    sbps_error err = {0};
    bool finished = false;
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up("run", &err);
    mixed *m = run->target->self;
    model_kind kind = *m->row_model;
    of = kind.predictor;
    counted = *of;
    counted.loglik = count_loglik;
    counted.gradient = count_gradient;
    counted.curvature = count_curvature;
    kind.predictor = &counted;
    m->row_model = &kind;
    cells = 0;
    while (!finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    double all = (double)cells;
    if (sbps_result_from_run(run, &r, &err) != SBPS_OK) give_up("result", &err);
    double each = all / r->info.min_ess;
    sbps_result_destroy(r);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return each;
}

TEST(the_chosen_method_is_the_cheaper_one)
{
    double taken = cells_per_sample(THREE "ess=60 chains=2"),
           other = cells_per_sample(THREE "ess=60 chains=2 crossed=integrate");
    printf("%.3g evaluations an effective sample, integrated %.3g\n", taken, other);
    CHECK(taken < 0.5 * other);
}

CHECK_MAIN
