/* Sweeps leave the posterior invariant. Parameters are drawn from the prior, a table from the
 * parameters, and from these parameters the chain makes a few sweeps on that table: the result
 * has the prior's distribution again (Geweke 2004, JASA 99, 799-804), so that its distribution
 * function there is uniform. Replicates are independent. A move with a wrong ratio, Jacobian or
 * prior drives the chain away from the prior. */
#include "check.h"
#include "mixed/fixture.h"
#include "posterior/sweep/sweep_parts.h"

#define SWEEPS ((size_t)8)
/* Factor of the precision's root of proposals of beta, which may be any: a wrong ratio shows. */
#define NARROWER 0.6
#define RATE     1.5 /* of the exponential prior of sds, */
#define AUX_RATE 1.0 /* and of auxiliaries */

/* Coefficients: normal or laplace with unit scale. */
typedef struct {
    grouped_spec spec;
    bool laplace;
} calibration_case;

static double draw_laplace(rng *r)
{
    double size = rng_exponential(r);
    return rng_uniform(r) < 0.5 ? -size : size;
}

/* lkj(2) of two effects: density 3 (1 - p^2) / 4. */
static double draw_correlation(rng *r)
{
    for (;;) {
        double p = 2.0 * rng_uniform(r) - 1.0;
        if (rng_uniform(r) < 1.0 - p * p) return p;
    }
}

static void set_priors(const calibration_case *c, const grouped *t)
{
    posterior *u = t->u;
    prior *priors = calloc(u->dim, sizeof *priors);
    const mixed *m = u->self;
    sbps_error err;
    for (size_t j = 0; j < u->dim; j++) {
        const char *text = u->scale[j] == SCALE_TANH                ? "lkj(2)"
                           : u->scale[j] == SCALE_LOG && j < m->aux ? "exponential(1.5)"
                           : u->scale[j] == SCALE_LOG               ? "exponential(1)"
                           : j < u->data->d && c->laplace           ? "laplace(0,1)"
                                                                    : "normal(0,1)";
        CHECK(prior_parse(text, &priors[j], &err) == SBPS_OK);
    }
    CHECK(posterior_set_priors(u, priors, &err) == SBPS_OK);
    free(priors);
}

/* Parameters from the prior: coordinates with L^-1 u for effects. */
static void draw_prior(const calibration_case *c, const posterior *u, rng *r, double *w)
{
    const mixed *m = u->self;
    for (size_t j = 0; j < u->dim; j++) {
        if (u->scale[j] == SCALE_TANH)
            w[j] = atanh(draw_correlation(r));
        else if (u->scale[j] == SCALE_LOG)
            w[j] = log(rng_exponential(r) / (j < m->aux ? RATE : AUX_RATE));
        else if (j < m->data->d && c->laplace)
            w[j] = draw_laplace(r);
        else
            w[j] = rng_normal(r);
    }
}

/* The prior's distribution function at coordinate j of w. */
static double uniform_at(const calibration_case *c, const posterior *u, size_t j, double w)
{
    const mixed *m = u->self;
    double p = tanh(w);
    if (u->scale[j] == SCALE_TANH) return (2.0 + 3.0 * p - p * p * p) / 4.0;
    if (u->scale[j] == SCALE_LOG) return -expm1(-(j < m->aux ? RATE : AUX_RATE) * exp(w));
    if (j < m->data->d && c->laplace) return w < 0.0 ? 0.5 * exp(w) : 1.0 - 0.5 * exp(-w);
    return 0.5 * erfc(-w / sqrt(2.0));
}

/* Draws the targets given natural parameters `at`. */
static void draw_targets(const sweep *s, const double *at, rng *r)
{
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->data->storage.x + i * s->data->stride;
        double eta = 0.0;
        for (size_t j = 0; j < s->d; j++) eta += x[j] * at[j];
        for (size_t f = 0; f < s->factors; f++) {
            const sweep_factor *of = &s->factor[f];
            for (size_t a = 0; a < of->q; a++)
                eta += mixed_z(s->m, i, of->of->column[a]) *
                       at[of->of->first + of->level[i] * of->q + a];
        }
        s->data->y[i] = s->family->simulate(r, eta, at + s->m->aux);
    }
}

/* Natural parameters at w. */
static void natural(const sweep *s, const double *w, double *at)
{
    memcpy(at, w, s->dim * sizeof *at);
    for (size_t f = 0; f < s->factors; f++) {
        const sweep_factor *of = &s->factor[f];
        effect_spread spread;
        spread_at(&of->of->shape, w + of->of->spread, false, &spread);
        for (size_t l = 0; l < of->levels; l++)
            for (size_t a = 0; a < of->q; a++) {
                double sum = 0.0;
                for (size_t b = 0; b <= a; b++)
                    sum += spread.factor[a][b] * w[of->of->first + l * of->q + b];
                at[of->of->first + l * of->q + a] = sum;
            }
    }
}

/* One replicate: w becomes the result. The proposal of beta is made from the targets alone. */
static void replicate(const calibration_case *c, const posterior *u, uint64_t index, double *w)
{
    sweep *s;
    sweep_state st;
    sbps_error err;
    rng random = rng_stream(41, index, RNG_TEST), path = rng_stream(41, index, RNG_PATH);
    double *at = new_doubles(u->dim), *started = new_doubles(u->dim);
    REQUIRE(sweep_open(u, &s, &err) == SBPS_OK);
    draw_prior(c, u, &random, w);
    natural(s, w, at);
    draw_targets(s, at, &random);
    sweep_close(s);
    REQUIRE(sweep_open(u, &s, &err) == SBPS_OK); /* sums over the new targets */
    double *state = new_doubles(sweep_numbers(s));
    u->model->parameters.start(u->self, started);
    sweep_start(s, NULL, started, state);
    sweep_carve(s, state, &st);
    memcpy(st.at, at, u->dim * sizeof *at);
    for (size_t i = 0; i < s->d * s->d; i++) st.root[i] *= NARROWER;
    for (size_t i = 0; i < SWEEPS; i++) sweep_step(s, &path, i, false, state, w);
    sweep_close(s);
    free(state);
    free(at);
    free(started);
}

/* z of the mean and of the second moment around 1/2 of uniform values. */
static void check_uniform(const char *name, size_t n, const double *values)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean += (values[i] - 0.5) / (double)n;
        square += (pow(values[i] - 0.5, 2.0) - 1.0 / 12.0) / (double)n;
    }
    double z = mean * sqrt(12.0 * (double)n), wide = square * sqrt(180.0 * (double)n);
    if (fabs(z) > MAX_Z || fabs(wide) > MAX_Z)
        printf("%s: mean of the distribution function off by z = %.2f, spread by %.2f\n", name,
               z, wide);
    CHECK(fabs(z) <= MAX_Z && fabs(wide) <= MAX_Z);
}

/* Coefficients, spreads, auxiliaries, and the first effect of each factor. */
static void check_coordinates(const posterior *u, size_t n, const double *values)
{
    const mixed *m = u->self;
    for (size_t j = 0; j < u->dim; j++) {
        bool checked = j < m->other[0].first || j >= m->aux;
        char name[81];
        for (size_t f = 0; f < m->others; f++)
            checked |=
                j >= m->other[f].first && j < m->other[f].first + m->other[f].shape.effects;
        u->model->parameters.name(u->self, j, sizeof name, name);
        if (checked) check_uniform(name, n, values + j * n);
    }
}

/* The sum of the standardised effects of a column, which is normal with a variance of the number
 * of levels: values of replicate i at out[(factor * 2 + effect) * n + i]. */
static void sum_effects(const mixed *m, const double *w, size_t n, size_t i, double *out)
{
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        size_t levels = m->groups->factor[o->factor].levels, q = o->shape.effects;
        for (size_t a = 0; a < q; a++) {
            double sum = 0.0;
            for (size_t l = 0; l < levels; l++) sum += w[o->first + l * q + a];
            out[(f * 2 + a) * n + i] = 0.5 * erfc(-sum / sqrt(2.0 * (double)levels));
        }
    }
}

static void calibrate(calibration_case c)
{
    size_t n = (size_t)check_size(2500.0, 20000.0, 100000.0);
    c.spec.joint = true;
    grouped t = grouped_make(&c.spec);
    const posterior *u = t.u;
    set_priors(&c, &t);
    const mixed *m = u->self;
    double *w = new_doubles(u->dim), *values = new_doubles(n * u->dim);
    double *sums = new_doubles(n * m->others * 2);
    for (size_t i = 0; i < n; i++) {
        replicate(&c, u, i, w);
        for (size_t j = 0; j < u->dim; j++) values[j * n + i] = uniform_at(&c, u, j, w[j]);
        sum_effects(m, w, n, i, sums);
    }
    check_coordinates(u, n, values);
    for (size_t f = 0; f < m->others; f++)
        for (size_t a = 0; a < m->other[f].shape.effects; a++)
            check_uniform("sum of effects", n, sums + (f * 2 + a) * n);
    free(sums);
    free(values);
    free(w);
    grouped_close(&t);
}

TEST(logistic_rows_of_two_crossed_factors)
{
    calibrate((calibration_case){.spec = {.model = "logistic",
                                          .groups = 12,
                                          .each = 5,
                                          .effects = 1,
                                          .sd = {1.0},
                                          .crossed = 7,
                                          .crossed_effects = 1,
                                          .seed = 1}});
}

TEST(logistic_rows_with_correlated_slopes)
{
    calibrate((calibration_case){.spec = {.model = "logistic",
                                          .groups = 9,
                                          .each = 6,
                                          .effects = 2,
                                          .sd = {1.0, 0.5},
                                          .crossed = 5,
                                          .crossed_effects = 2,
                                          .centred = true,
                                          .far = 1.5,
                                          .seed = 2}});
}

TEST(poisson_rows_of_nested_factors_with_slopes)
{
    calibrate((calibration_case){.spec = {.model = "poisson",
                                          .groups = 6,
                                          .each = 6,
                                          .effects = 2,
                                          .sd = {0.5, 0.5},
                                          .nested = 3,
                                          .nested_effects = 2,
                                          .seed = 3}});
}

/* Few rows: priors and shifts decide. */
TEST(logistic_rows_of_nested_factors)
{
    calibrate((calibration_case){.spec = {.model = "logistic",
                                          .groups = 5,
                                          .each = 3,
                                          .effects = 1,
                                          .sd = {1.0},
                                          .nested = 1,
                                          .nested_effects = 1,
                                          .seed = 7}});
}

TEST(normal_rows_of_crossed_factors_with_slopes)
{
    calibrate((calibration_case){.spec = {.model = "linear",
                                          .groups = 12,
                                          .each = 3,
                                          .effects = 2,
                                          .sd = {1.0, 0.5},
                                          .crossed = 6,
                                          .crossed_effects = 1,
                                          .centred = true,
                                          .far = -1.0,
                                          .seed = 4}});
}

TEST(normal_rows_of_nested_factors_and_laplace_priors)
{
    calibrate((calibration_case){.spec = {.model = "linear",
                                          .groups = 6,
                                          .each = 6,
                                          .effects = 1,
                                          .sd = {1.0},
                                          .nested = 2,
                                          .nested_effects = 2,
                                          .seed = 5},
                                 .laplace = true});
}

TEST(gamma_rows_with_a_shape_and_laplace_priors)
{
    calibrate((calibration_case){.spec = {.model = "gamma",
                                          .groups = 8,
                                          .each = 5,
                                          .effects = 1,
                                          .sd = {0.5},
                                          .crossed = 5,
                                          .crossed_effects = 1,
                                          .seed = 6},
                                 .laplace = true});
}

CHECK_MAIN
