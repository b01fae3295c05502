/* Effects of a term with a constant are sampled at the means of its columns and reported at 0:
 * the density is that of the transformed covariance; neither the posterior nor its cost depends
 * on where a column has its zero; and priors given by the user hold at 0. */
#include "derivatives.h"
#include "inference/autotune/run_plan.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "posterior/full/log_prior.h"

#include "stat/sample.h"

/* ---- the density ---- */

#define COMMON .groups = 9, .each = 5, .sd = {0.9, 0.5}, .cor = 0.4, .centred = true

static const grouped_spec specs[] = {
    {COMMON, .model = "linear", .effects = 2, .far = 20.0, .seed = 3},
    {COMMON, .model = "linear", .effects = 2, .far = -3.0, .weights = true, .seed = 4},
    {COMMON, .model = "linear", .effects = 2, .far = 7.0, .crossed = 4, .crossed_effects = 2,
     .seed = 5},
    {COMMON, .model = "poisson", .effects = 2, .far = 7.0, .crossed = 4, .crossed_effects = 2,
     .joint = true, .seed = 6},
    {COMMON, .model = "linear", .effects = 2, .far = 7.0, .nested = 2, .nested_effects = 2,
     .seed = 7},
};
#define SPECS (sizeof specs / sizeof *specs)

/* Sets w to a generic point. */
static void set_generic_point(const grouped *t, const grouped_spec *s, double *w)
{
    rng r = rng_stream(s->seed, 2, RNG_TEST);
    for (size_t j = 0; j < t->u->dim; j++) w[j] = 0.3 * rng_normal(&r);
}

TEST(derivatives_are_those_of_differences)
{
    for (size_t i = 0; i < SPECS; i++) {
        double w[MAX_DIM];
        grouped t = grouped_make(&specs[i]);
        REQUIRE(t.u->dim <= MAX_DIM);
        set_generic_point(&t, &specs[i], w);
        if (!specs[i].joint) check_derivatives(&t, w, 1e-5, specs[i].nested ? 2e-3 : 1e-4);
        if (!specs[i].joint) check_slopes(&t, w);
        grouped_close(&t);
    }
}

/* The coordinates at 0 of the same covariances and effects. */
static void move_to_zero(const grouped *from, const grouped *to, const double *w, double *out)
{
    const mixed *m = to->u->self;
    const model_kind *model = from->u->model;
    model_derived of;
    double reported[MAX_DIM];
    memcpy(out, w, from->u->dim * sizeof *w);
    model->reported.values(from->u->self, w, 0, from->u->dim, reported);
    for (size_t j = 0; j < from->u->dim; j++) {
        if (!posterior_derived(from->u, j, &of)) continue;
        out[j] = of.effect                       ? reported[j]
                 : to->u->scale[j] == SCALE_TANH ? atanh(reported[j])
                                                 : log(reported[j]);
    }
    for (size_t f = 0; f < m->others; f++) { /* L^-1 u, as the standardisation is at first */
        const other_factor *o = &m->other[f];
        effect_spread at;
        spread_at(&o->shape, out + o->spread, false, &at);
        for (size_t l = 0; l < m->groups->factor[o->factor].levels; l++) {
            double *u = out + o->first + l * o->shape.effects;
            for (size_t a = 0; a < o->shape.effects; a++)
                u[a] = (u[a] - dot(a, at.factor[a], u)) / at.factor[a][a];
        }
    }
}

TEST(the_density_is_that_of_the_covariance_at_zero)
{
    for (size_t i = 0; i < SPECS; i++) {
        grouped_spec plain = specs[i];
        plain.centred = false;
        double w[MAX_DIM], there[MAX_DIM], value, want;
        grouped t = grouped_make(&specs[i]), zero = grouped_make(&plain);
        REQUIRE(t.u->dim == zero.u->dim);
        set_generic_point(&t, &specs[i], w);
        move_to_zero(&t, &zero, w, there);
        CHECK(posterior_value(t.u, w, &value, NULL) == SBPS_OK);
        CHECK(posterior_value(zero.u, there, &want, NULL) == SBPS_OK);
        value += log_prior_value(t.u, w); /* of coordinates: includes their Jacobian */
        want += log_prior_value(zero.u, there);
        CHECK_NEAR(value, want, 1e-8 * fabs(want));
        grouped_close(&t);
        grouped_close(&zero);
    }
}

/* ---- tables ---- */

#define YEAR   2005.0
#define LEVELS 16
#define EACH   11

static double dose_of(int i)
{
    return i % 3 - 0.5;
}

/* `year` from -5 to 5 around a year. */
static void write_table(const char *path, double year)
{
    rng random = rng_stream(21, 0, RNG_TEST);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,year,dose,g,h,part\n");
    for (int g = 0; g < LEVELS; g++) {
        double level = rng_normal(&random), slope = 0.3 * rng_normal(&random);
        for (int i = 0; i < EACH; i++) {
            double t = i - EACH / 2, y = level + (0.1 + slope) * t + 0.3 * ((g + 2 * i) % 5);
            fprintf(file, "%.6f,%g,%g,g%d,h%d,%d\n", y + rng_normal(&random), t + year,
                    dose_of(i + g), g, (g + 2 * i) % 5, i / 4);
        }
    }
    fclose(file);
}

typedef struct {
    sbps_options *options;
    sbps_table *table;
    posterior *u;
} target;

static sbps_table *table_of(double year, const sbps_options *options)
{
    char path[256];
    sbps_error err = {0};
    sbps_table *table;
    temporary_name(sizeof path, path);
    write_table(path, year);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
    return table;
}

static target target_of(double year, const char *settings)
{
    target t = {.options = options_of(settings)};
    const model_kind *model;
    t.table = table_of(year, t.options);
    CHECK(plan_model(t.options, t.table->data, &model, NULL) == SBPS_OK);
    CHECK(target_open(t.options, t.table->data, model, &t.u, NULL) == SBPS_OK);
    return t;
}

static void target_close(target *t)
{
    posterior_destroy(t->u);
    sbps_table_destroy(t->table);
    sbps_options_destroy(t->options);
}

/* ---- the posterior ---- */

static const char *const settings[] = {
    "model=linear formula=y~year+(1+year|g)",
    "model=linear formula=y~year+dose+(1+dose+year|g)",
    "model=linear formula=y~year+(1+year|g)+(0+dose|g)",
    "model=linear formula=y~year+(1+year|g/part)",
    "model=linear formula=y~year+(1+year|g)+(1+year|h) crossed=integrate",
    "model=linear formula=y~year+(1+year|g)+(1+year|h) crossed=joint",
};

/* Coordinates are the same, except for the intercept at year 0. */
TEST(the_posterior_does_not_depend_on_the_origin)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        double w[512], at_near, at_far;
        target near = target_of(0.0, settings[i]), far = target_of(YEAR, settings[i]);
        rng r = rng_stream(4, 0, RNG_TEST);
        REQUIRE(near.u->dim == far.u->dim && near.u->dim <= 512);
        for (size_t j = 0; j < near.u->dim; j++) w[j] = 0.3 * rng_normal(&r);
        CHECK(posterior_value(near.u, w, &at_near, NULL) == SBPS_OK);
        w[0] -= YEAR * w[1];
        CHECK(posterior_value(far.u, w, &at_far, NULL) == SBPS_OK);
        CHECK_NEAR(at_far, at_near, 1e-8 * fabs(at_near));
        target_close(&near);
        target_close(&far);
    }
}

static bool any_derived(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; j < u->dim; j++)
        if (posterior_derived(u, j, &of)) return true;
    return false;
}

/* Effects without an intercept, and independent ones, are those at 0. */
TEST(some_terms_are_not_centred)
{
    static const char *const plain[] = {
        "model=linear formula=y~year+(0+year|g)", "model=linear formula=y~year+(year||g)",
        "model=linear formula=y~year+(1|g)+(0+year|g)", "model=linear formula=y~year+(1|g)"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        target t = target_of(YEAR, plain[i]);
        CHECK(!any_derived(t.u));
        target_close(&t);
    }
    target t = target_of(0.0, settings[0]), far = target_of(YEAR, settings[0]);
    CHECK(!any_derived(t.u) && any_derived(far.u));
    target_close(&t);
    target_close(&far);
}

/* Log density of log sd and atanh correlation under half normal(0, 2) and lkj(3). */
static double given_prior(const double *w)
{
    double log_prior = 0.0;
    for (size_t j = 2; j < 4; j++) log_prior += w[j] - exp(2.0 * w[j]) / 8.0;
    return log_prior + 3.0 * log(1.0 - tanh(w[4]) * tanh(w[4]));
}

TEST(user_priors_apply_at_zero)
{
    target t = target_of(YEAR, "model=linear formula=y~year+(1+year|g) prior-sd=normal(0,2) "
                               "prior-cor=lkj(3) prior=flat prior-intercept=flat");
    double w[] = {1.0, 0.2, 0.3, -0.4, 0.6, 0.1}, v[] = {1.0, 0.2, -1.1, 0.5, -0.8, 0.1};
    REQUIRE(t.u->dim == 6 && !any_derived(t.u));
    CHECK_NEAR(log_prior_value(t.u, w) - log_prior_value(t.u, v),
               given_prior(w) - given_prior(v), TOL_SUM);
    target_close(&t);
}

/* ---- runs ---- */

#define RUN                                                                                    \
    "model=linear formula=y~year+(1+year|g) seed=3 ess=400 sampler=hmc chains=2 ranef=all"

static sbps_result *run_at(double year, double *rows_touched)
{
    sbps_options *options = options_of(RUN);
    sbps_table *table = table_of(year, options);
    sbps_result *r = sample_table(table, options);
    *rows_touched = r->info.rows_touched;
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

static size_t place_of(const result *r, const char *name)
{
    for (size_t j = 0; j < r->dim; j++)
        if (!strcmp(r->names[j], name)) return j;
    give_up(name, &(sbps_error){.text = "no such parameter"});
    return 0;
}

/* Reads from a draw the values at `year`: sd and correlation of the intercepts there, or the
 * intercept itself. */
typedef double (*reading)(const double *draw, const size_t *at, double year);

static double covariance_with_slope(const double *draw, const size_t *at, double year)
{
    double s0 = draw[at[0]], s1 = draw[at[1]];
    return draw[at[2]] * s0 * s1 + year * s1 * s1;
}

static double read_sd(const double *draw, const size_t *at, double year)
{
    double s0 = draw[at[0]], s1 = draw[at[1]];
    return sqrt(s0 * s0 + 2.0 * year * draw[at[2]] * s0 * s1 + year * year * s1 * s1);
}

static double read_correlation(const double *draw, const size_t *at, double year)
{
    return covariance_with_slope(draw, at, year) / (read_sd(draw, at, year) * draw[at[1]]);
}

static double read_line(const double *draw, const size_t *at, double year)
{
    return draw[at[0]] + year * draw[at[1]];
}

static double read_self(const double *draw, const size_t *at, double year)
{
    (void)year;
    return draw[at[0]];
}

static void draw_moments(const result *r, reading f, const size_t *at, double year,
                         double *mean, double *sd)
{
    double n = (double)(r->chains * r->draws), sum = 0.0, square = 0.0;
    for (size_t i = 0; i < r->chains * r->draws; i++) sum += f(r->w + i * r->dim, at, year) / n;
    for (size_t i = 0; i < r->chains * r->draws; i++)
        square += pow(f(r->w + i * r->dim, at, year) - sum, 2.0) / n;
    *mean = sum;
    *sd = sqrt(square);
}

#define NEAR_ENOUGH                                                                            \
    0.1 /* posterior sds, added to the error of two independent means of 400 draws: */
#define MC_ERROR 0.28 /* four standard errors */

static void compare(const result *near, const result *far, const char *const *names, reading f)
{
    size_t at[3], there[3];
    double mean[2], sd[2];
    for (size_t k = 0; k < 3; k++) {
        at[k] = place_of(near, names[names[k] ? k : 0]);
        there[k] = place_of(far, names[names[k] ? k : 0]);
    }
    draw_moments(near, f, at, 0.0, &mean[0], &sd[0]);
    draw_moments(far, f, there, YEAR, &mean[1], &sd[1]);
    double off = (mean[1] - mean[0]) / sd[0];
    if (fabs(off) > NEAR_ENOUGH + MC_ERROR || fabs(log(sd[1] / sd[0])) > 0.2) {
        printf("%s: %.4f sd apart, sds %.4g and %.4g\n", names[0], off, sd[0], sd[1]);
        check_failures++;
    }
}

#define SPREAD "sd_g__Intercept", "sd_g__year", "cor_g__Intercept__year"

TEST(a_run_with_years_is_one_with_centred_years)
{
    double cost[2];
    sbps_result *near = run_at(0.0, &cost[0]), *far = run_at(YEAR, &cost[1]);
    compare(near, far, (const char *[]){"(Intercept)", "year", NULL}, read_line);
    compare(near, far, (const char *[]){"year", NULL, NULL}, read_self);
    compare(near, far, (const char *[]){"sigma", NULL, NULL}, read_self);
    compare(near, far, (const char *[]){SPREAD}, read_sd);
    compare(near, far, (const char *[]){"sd_g__year", NULL, NULL}, read_self);
    compare(near, far, (const char *[]){SPREAD}, read_correlation);
    for (int g = 0; g < LEVELS; g++) {
        char level[64], slope[64];
        snprintf(level, sizeof level, "r_g[g%d,Intercept]", g);
        snprintf(slope, sizeof slope, "r_g[g%d,year]", g);
        compare(near, far, (const char *[]){level, slope, NULL}, read_line);
        compare(near, far, (const char *[]){slope, NULL, NULL}, read_self);
    }
    size_t j = place_of(far, "sd_g__Intercept");
    CHECK(!strcmp(far->prior_of[j], "the parameter at the means of the columns"));
    CHECK_NEAR(far->prior_sd[j], near->prior_sd[j], TOL_DIFF * near->prior_sd[j]);
    printf("rows touched: %.3g and %.3g\n", cost[0], cost[1]);
    CHECK(cost[1] < 2.0 * cost[0]);
    sbps_result_destroy(near);
    sbps_result_destroy(far);
}

CHECK_MAIN
