/* Coefficients shrunk by scales of their own: derivatives, posteriors against sums over the
 * scales' priors, and few real columns among many.
 *
 * Given scales and sigma the weights of a linear regression are normal: with D the prior
 * precisions and m the line's at the means of the columns,
 *
 *   P = X'X / sigma^2 + D,   b = X'y / sigma^2 + D m,                                      (1)
 *   w | scales, sigma, y ~ N(P^-1 b, P^-1)
 *   log p(y | scales, sigma) = -n log sigma                                                (2)
 *     + (log det D - log det P + b'P^-1 b - m'Dm)/2 + const
 *
 * so that scales drawn from their priors and weighted by (2) mix (1), without any of our
 * samplers. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "inference/options/options.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "posterior/full/log_prior.h"
#include "posterior/full/posterior.h"

#define ROWS   40
#define DIM    3 /* intercept, a real column, one without effect */
#define SCALES 400000
#define Z_MAX  3.0
#define SD_OFF 0.03

typedef struct {
    double x[ROWS][DIM - 1], y[ROWS];
    double mean[DIM], sd[DIM];
} small_table;

static void simulate(small_table *t)
{
    rng r = rng_stream(12, 0, RNG_TEST);
    *t = (small_table){.mean = {1.0}};
    for (size_t i = 0; i < ROWS; i++) {
        t->x[i][0] = 2.0 + rng_normal(&r);
        t->x[i][1] = 0.4 * t->x[i][0] + 0.5 * rng_normal(&r);
        t->y[i] = 0.5 + 0.9 * t->x[i][0] + rng_normal(&r);
        for (size_t j = 1; j < DIM; j++) t->mean[j] += t->x[i][j - 1] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 1; j < DIM; j++)
            t->sd[j] += pow(t->x[i][j - 1] - t->mean[j], 2.0) / ROWS;
    for (size_t j = 1; j < DIM; j++) t->sd[j] = sqrt(t->sd[j]);
}

/* ---- densities of the scales, as in their papers ---- */

static double half_cauchy(rng *r)
{
    return fabs(tan(M_PI * (rng_uniform(r) - 0.5)));
}

static double exponential(rng *r)
{
    return -log1p(-rng_uniform(r));
}

/* df 1, global 0.5, slab 2.5 with 4: 1/c^2 is a gamma variable of shape 2 and rate 2 2.5^2. */
static void draw_horseshoe(rng *r, const small_table *t, double sigma, double *precision)
{
    double tau = 0.5 * half_cauchy(r) * sigma;
    double slab = (exponential(r) + exponential(r)) / 12.5;
    (void)t;
    for (size_t j = 1; j < DIM; j++) {
        double lambda = half_cauchy(r), wide = tau * tau * lambda * lambda, c2 = 1.0 / slab;
        precision[j] = (c2 + wide) / (c2 * wide);
    }
}

/* R2 uniform, shares of a Dirichlet's with 1/2 each: squares of normal ones. */
static void draw_r2d2(rng *r, const small_table *t, double sigma, double *precision)
{
    double r2 = rng_uniform(r), g[DIM], sum = 0.0;
    for (size_t j = 1; j < DIM; j++) sum += g[j] = pow(rng_normal(r), 2.0);
    for (size_t j = 1; j < DIM; j++)
        precision[j] = t->sd[j] * t->sd[j] * sum * (1.0 - r2) / (sigma * sigma * g[j] * r2);
}

/* ---- (1) and (2) ---- */

#define LINE_MEAN 1.0
#define LINE_SD   5.0

static double mix(const small_table *t, const double *precision, double sigma, double mean[DIM],
                  double square[DIM])
{
    double P[DIM * DIM] = {0}, b[DIM] = {0}, C[DIM * DIM], own = 1.0 / (LINE_SD * LINE_SD),
                   log_weight = -ROWS * log(sigma), tau = 1.0 / (sigma * sigma);
    for (size_t i = 0; i < ROWS; i++) {
        const double x[DIM] = {1.0, t->x[i][0], t->x[i][1]};
        for (size_t j = 0; j < DIM; j++) {
            b[j] += tau * x[j] * t->y[i];
            for (size_t k = 0; k < DIM; k++) P[j * DIM + k] += tau * x[j] * x[k];
        }
        log_weight -= 0.5 * tau * t->y[i] * t->y[i];
    }
    for (size_t j = 0; j < DIM; j++) {
        b[j] += own * LINE_MEAN * t->mean[j];
        for (size_t k = 0; k < DIM; k++) P[j * DIM + k] += own * t->mean[j] * t->mean[k];
        if (j > 0) P[j * DIM + j] += precision[j];
        if (j > 0) log_weight += 0.5 * log(precision[j]);
    }
    cholesky(DIM, P);
    cholesky_inverse(DIM, P, C);
    for (size_t j = 0; j < DIM; j++) {
        mean[j] = 0.0;
        for (size_t k = 0; k < DIM; k++) mean[j] += C[j * DIM + k] * b[k];
        log_weight += 0.5 * mean[j] * b[j] - log(P[j * DIM + j]);
        square[j] = C[j * DIM + j] + mean[j] * mean[j];
    }
    return log_weight;
}

typedef struct {
    double mean[DIM], sd[DIM], error[DIM]; /* of the mean */
} truth;

typedef void draw_scales(rng *r, const small_table *t, double sigma, double *precision);

/* sigma is drawn about 1 and weighed by its prior, exponential(1). */
static truth sum_up(const small_table *t, draw_scales *draw)
{
    static double weight[SCALES], mean[SCALES][DIM];
    truth out = {0};
    double all = 0.0, top = -INFINITY, square[DIM] = {0};
    static double squares[SCALES][DIM];
    rng r = rng_stream(5, 0, RNG_TEST);
    for (size_t s = 0; s < SCALES; s++) {
        double z = rng_normal(&r), sigma = exp(0.2 * z), precision[DIM] = {0};
        draw(&r, t, sigma, precision);
        weight[s] =
            mix(t, precision, sigma, mean[s], squares[s]) - sigma + log(sigma) + 0.5 * z * z;
        if (!isfinite(weight[s])) weight[s] = -INFINITY; /* a scale of 0: no weight */
        top = fmax(top, weight[s]);
    }
    for (size_t s = 0; s < SCALES; s++) {
        if (isinf(weight[s])) continue;
        weight[s] = exp(weight[s] - top);
        all += weight[s];
        for (size_t j = 0; j < DIM; j++) {
            out.mean[j] += weight[s] * mean[s][j];
            square[j] += weight[s] * squares[s][j];
        }
    }
    for (size_t j = 0; j < DIM; j++) {
        out.mean[j] /= all;
        out.sd[j] = sqrt(square[j] / all - out.mean[j] * out.mean[j]);
    }
    for (size_t s = 0; s < SCALES; s++)
        for (size_t j = 0; j < DIM && !isinf(weight[s]); j++)
            out.error[j] += pow(weight[s] / all * (mean[s][j] - out.mean[j]), 2.0);
    for (size_t j = 0; j < DIM; j++) out.error[j] = sqrt(out.error[j]);
    return out;
}

static void check_run(const char *request, draw_scales *draw)
{
    small_table t;
    char settings[400];
    simulate(&t);
    truth expected = sum_up(&t, draw);
    snprintf(settings, sizeof settings,
             "model=linear sampler=hmc prior=%s prior-sigma=exponential(1) "
             "prior-intercept=normal(%g,%g) prior-intercept-at=mean ess=10000 seed=4",
             request, LINE_MEAN, LINE_SD);
    sbps_result *r = sample_arrays(ROWS, DIM - 1, &t.x[0][0], t.y, settings);
    for (size_t j = 0; j < DIM; j++) {
        double z = (r->mean[j] - expected.mean[j]) / hypot(r->mcse[j], expected.error[j]);
        double wide = r->sd[j] / expected.sd[j];
        printf("%s, %s: mean %.4f, sd %.4f; known %.4f (+- %.4f), %.4f; z %.1f\n", request,
               r->names[j], r->mean[j], r->sd[j], expected.mean[j], expected.error[j],
               expected.sd[j], z);
        CHECK(fabs(z) < Z_MAX);
        CHECK_NEAR(wide, 1.0, SD_OFF);
    }
    sbps_result_destroy(r);
}

TEST(horseshoe_agrees_with_scales_drawn_from_their_priors)
{
    check_run("horseshoe(1,0.5,1,2.5,4)", draw_horseshoe);
}

TEST(r2d2_agrees_with_scales_drawn_from_their_priors)
{
    check_run("R2D2(0.5,2,0.5)", draw_r2d2);
}

/* ---- derivatives ---- */

/* Slopes of rows along a direction are their part of the gradient. */
static void check_slope(const posterior *u, const double *w, const double *gradient)
{
    double slopes[ROWS], *v = calloc(2 * u->dim, sizeof *v), *prior_part = v + u->dim;
    double *scratch = calloc(u->model->rows.scratch(u->self, ROWS), sizeof *scratch),
           along = 0.0;
    rng r = rng_stream(9, 0, RNG_TEST);
    for (size_t j = 0; j < u->dim; j++) v[j] = rng_normal(&r);
    log_prior_gradient(u, w, -1.0, prior_part);
    for (size_t j = 0; j < u->dim; j++) along += v[j] * (gradient[j] - prior_part[j]);
    u->model->rows.slope(u->self, rows_from(0, ROWS), w, v, scratch, slopes);
    for (size_t i = 0; i < ROWS; i++) along += slopes[i];
    CHECK_NEAR(along, 0.0, 1e-9 * ROWS);
    free(v);
    free(scratch);
}

static void check_gradient(const char *settings)
{
    small_table t;
    double counts[ROWS], *w, *gradient, *other;
    sbps_error err = {0};
    sbps_options *options = options_of(settings);
    sbps_table *table;
    simulate(&t);
    for (size_t i = 0; i < ROWS; i++) counts[i] = (double)(i % 2);
    bool counted = strstr(settings, "logistic");
    REQUIRE(sbps_table_copy(ROWS, DIM - 1, &t.x[0][0], NULL, counted ? counts : t.y, options,
                            &table, &err) == SBPS_OK);
    posterior *u;
    REQUIRE(target_open(options, table->data, model_find(options->model), &u, &err) == SBPS_OK);
    w = calloc(3 * u->dim, sizeof *w);
    gradient = w + u->dim;
    other = gradient + u->dim;
    rng r = rng_stream(8, 0, RNG_TEST);
    for (size_t j = 0; j < u->dim; j++) w[j] = 0.5 * rng_normal(&r);
    posterior_gradient(u, w, NULL, gradient, &err);
    for (size_t j = 0; j < u->dim; j++) {
        double low, high, step = 1e-5, at = w[j];
        w[j] = at - step;
        posterior_value(u, w, &low, &err);
        w[j] = at + step;
        posterior_value(u, w, &high, &err);
        w[j] = at;
        other[j] = (high - low) / (2.0 * step);
        CHECK_NEAR(gradient[j], other[j], 1e-6 * (1.0 + fabs(other[j])));
    }
    check_slope(u, w, gradient);
    free(w);
    posterior_destroy(u);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

TEST(gradients_are_differences_of_values)
{
    check_gradient("model=linear sampler=hmc prior=horseshoe(2,0.5,3,2.5,4)");
    check_gradient("model=linear sampler=hmc prior=R2D2(0.3,5,0.7)");
    check_gradient("model=logistic sampler=hmc prior=horseshoe(1)");
    check_gradient("model=logistic sampler=hmc prior=R2D2(0.5);x1=normal(0,2)");
}

/* ---- few among many ---- */

#define MANY      200
#define REAL      5
#define MANY_ROWS 300
#define SMALL     0.15

TEST(few_real_columns_are_found_among_many)
{
    static double x[MANY_ROWS][MANY], y[MANY_ROWS];
    const double weight[REAL] = {2.0, -1.5, 1.0, -0.8, 0.6};
    rng r = rng_stream(21, 0, RNG_TEST);
    for (size_t i = 0; i < MANY_ROWS; i++) {
        y[i] = rng_normal(&r);
        for (size_t j = 0; j < MANY; j++) x[i][j] = rng_normal(&r);
        for (size_t j = 0; j < REAL; j++) y[i] += weight[j] * x[i][j];
    }
    sbps_result *s = sample_arrays(MANY_ROWS, MANY, &x[0][0], y,
                                   "model=linear sampler=hmc prior=horseshoe(1,0.02) "
                                   "no-intercept chains=2 warmup=100 ess=10 seed=2");
    double noise = 0.0;
    for (size_t j = 0; j < REAL; j++) {
        printf("%s: %.3f +- %.3f, made with %.1f\n", s->names[j], s->mean[j], s->sd[j],
               weight[j]);
        CHECK(fabs(s->mean[j] - weight[j]) < MAX_Z * s->sd[j]);
        CHECK(fabs(s->mean[j]) > MAX_Z * s->sd[j]);
    }
    for (size_t j = REAL; j < MANY; j++) {
        CHECK(fabs(s->mean[j]) < SMALL);
        noise += s->mean[j] * s->mean[j] / (MANY - REAL);
    }
    printf("root mean square of the others: %.4f\n", sqrt(noise));
    CHECK(sqrt(noise) < 0.5 / sqrt((double)MANY_ROWS)); /* half a standard error */
    sbps_result_destroy(s);
}

CHECK_MAIN
