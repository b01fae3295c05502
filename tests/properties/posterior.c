/* Properties of the posterior, for every model: its gradient and Hessian are derivatives, row
 * weights count rows, offsets shift the predictor. Priors are taken from the registry in turn.
 * */
#include "posterior/full/posterior.h"
#include "check.h"
#include "ingest/ingest.h"
#include "model/regressions.h"

#define N       1203 /* more than two blocks, the last one ragged */
#define COLUMNS 6
#define DIM_MAX (COLUMNS + 3)

typedef struct {
    double x[N * COLUMNS], y[N], weight[N], offset[N], w[DIM_MAX], v[DIM_MAX];
    prior priors[DIM_MAX];
} problem;

/* Smooth kinds that may stand on any coordinate, in turn; auxiliaries have exponential(1.3). */
static void choose_priors(problem *p, size_t d)
{
    size_t kind = 0;
    for (size_t j = 0; j < DIM_MAX; j++) {
        do kind = prior_kinds[kind + 1] ? kind + 1 : 0;
        while (prior_kinds[kind]->positive || prior_kinds[kind]->correlation);
        p->priors[j] = (prior){prior_kinds[kind], {3.3, 1.3, 2.1}};
    }
    for (size_t j = d; j < DIM_MAX; j++) prior_parse("exponential(1.3)", &p->priors[j], NULL);
}

static problem *make_problem(const model_kind *model)
{
    problem *p = calloc(1, sizeof *p);
    const double aux[] = {0.2, 1.2};
    rng r = rng_stream(21, 0, RNG_TEST);
    for (size_t j = 0; j < DIM_MAX; j++) {
        p->w[j] = 0.4 * rng_normal(&r);
        p->v[j] = rng_normal(&r);
    }
    for (size_t i = 0; i < N; i++) {
        double eta = p->w[0];
        for (size_t j = 0; j < COLUMNS; j++) {
            p->x[i * COLUMNS + j] = rng_normal(&r) + (double)j / 3.0;
            eta += p->w[j + 1] * p->x[i * COLUMNS + j];
        }
        p->offset[i] = rng_normal(&r);
        p->weight[i] = 2.0 * rng_uniform(&r);
        p->y[i] = model->predictor->simulate ? model->predictor->simulate(&r, eta, aux)
                                             : (double)(i % 2);
    }
    choose_priors(p, COLUMNS + 1);
    return p;
}

static rows *make_rows(const problem *p, size_t n, const double *weight, const double *offset)
{
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = true, .seed = 1};
    rows_copy(n, COLUMNS, p->x, NULL, p->y, weight, offset, &spec, &data, NULL);
    return data;
}

/* Runs `property` for every model on weighted rows with offsets, the intercept as it is and
 * centred. */
static void for_each_model(void (*property)(const posterior *u, const problem *p))
{
    for (size_t k = 0; regression_model(k); k++) {
        problem *p = make_problem(regression_model(k));
        rows *data = make_rows(p, N, p->weight, p->offset);
        posterior *u = NULL;
        CHECK(data &&
              posterior_create(data, regression_model(k), p->priors, &u, NULL) == SBPS_OK);
        if (u) property(u, p);
        if (u) posterior_centre(u);
        if (u) property(u, p);
        posterior_destroy(u);
        rows_destroy(data);
        free(p);
    }
}

static void gradient_property(const posterior *u, const problem *p)
{
    double g[DIM_MAX], w[DIM_MAX], value, alone, up, down, h = 1e-5;
    memcpy(w, p->w, sizeof w);
    posterior_gradient(u, w, &value, g, NULL);
    posterior_value(u, w, &alone, NULL);
    CHECK(value == alone);
    for (size_t j = 0; j < u->dim; j++) {
        w[j] = p->w[j] + h;
        posterior_value(u, w, &up, NULL);
        w[j] = p->w[j] - h;
        posterior_value(u, w, &down, NULL);
        w[j] = p->w[j];
        CHECK_NEAR(g[j], (up - down) / (2.0 * h), TOL_DIFF);
    }
}

TEST(gradient_is_the_finite_difference_of_value)
{
    for_each_model(gradient_property);
}

static void hessian_property(const posterior *u, const problem *p)
{
    double hessian[DIM_MAX * DIM_MAX], up[DIM_MAX], down[DIM_MAX], w[DIM_MAX], h = 1e-5;
    size_t dim = u->dim;
    memcpy(w, p->w, sizeof w);
    posterior_hessian(u, w, hessian, NULL);
    for (size_t j = 0; j < dim; j++) {
        w[j] = p->w[j] + h;
        posterior_gradient(u, w, NULL, up, NULL);
        w[j] = p->w[j] - h;
        posterior_gradient(u, w, NULL, down, NULL);
        w[j] = p->w[j];
        for (size_t i = 0; i < dim; i++) {
            CHECK_NEAR(hessian[i * dim + j], (up[i] - down[i]) / (2.0 * h), TOL_DIFF);
            CHECK(hessian[i * dim + j] == hessian[j * dim + i]);
        }
    }
}

TEST(hessian_is_the_finite_difference_of_gradient)
{
    for_each_model(hessian_property);
}

static void product_property(const posterior *u, const problem *p)
{
    double hessian[DIM_MAX * DIM_MAX], hv[DIM_MAX];
    posterior_hessian(u, p->w, hessian, NULL);
    posterior_hessian_vector(u, p->w, p->v, hv, NULL);
    for (size_t i = 0; i < u->dim; i++) {
        double expected = 0.0;
        for (size_t j = 0; j < u->dim; j++) expected += hessian[i * u->dim + j] * p->v[j];
        CHECK_NEAR(hv[i], expected, TOL_SUM);
    }
}

TEST(hessian_vector_is_the_hessian_times_the_vector)
{
    for_each_model(product_property);
}

/* Value, gradient and Hessian of two posteriors agree to the order of their sums. */
static void check_same(const posterior *a, const posterior *b, const double *w)
{
    double ga[DIM_MAX], gb[DIM_MAX], va, vb;
    double ha[DIM_MAX * DIM_MAX], hb[DIM_MAX * DIM_MAX];
    posterior_gradient(a, w, &va, ga, NULL);
    posterior_gradient(b, w, &vb, gb, NULL);
    posterior_hessian(a, w, ha, NULL);
    posterior_hessian(b, w, hb, NULL);
    CHECK_NEAR(va, vb, TOL_SUM);
    for (size_t j = 0; j < a->dim; j++) CHECK_NEAR(ga[j], gb[j], TOL_SUM);
    for (size_t j = 0; j < a->dim * a->dim; j++) CHECK_NEAR(ha[j], hb[j], TOL_SUM);
}

static void compare(const model_kind *model, const problem *p, const rows *a, const rows *b)
{
    posterior *ua = NULL, *ub = NULL;
    CHECK(posterior_create(a, model, p->priors, &ua, NULL) == SBPS_OK);
    CHECK(posterior_create(b, model, p->priors, &ub, NULL) == SBPS_OK);
    if (ua && ub) check_same(ua, ub, p->w);
    posterior_destroy(ua);
    posterior_destroy(ub);
}

TEST(weight_two_equals_the_row_twice)
{
    for (size_t k = 0; regression_model(k); k++) {
        problem *p = make_problem(regression_model(k));
        size_t half = N / 2;
        memcpy(p->x + half * COLUMNS, p->x, half * COLUMNS * sizeof *p->x);
        memcpy(p->y + half, p->y, half * sizeof *p->y);
        memcpy(p->offset + half, p->offset, half * sizeof *p->offset);
        for (size_t i = 0; i < half; i++) p->weight[i] = 2.0;
        rows *twice = make_rows(p, 2 * half, NULL, p->offset);
        rows *weighed = make_rows(p, half, p->weight, p->offset);
        compare(regression_model(k), p, twice, weighed);
        rows_destroy(twice);
        rows_destroy(weighed);
        free(p);
    }
}

TEST(a_constant_offset_equals_a_shifted_intercept)
{
    for (size_t k = 0; regression_model(k); k++) {
        problem *p = make_problem(regression_model(k));
        for (size_t i = 0; i < N; i++) p->offset[i] = 0.75;
        prior_parse("flat", &p->priors[0], NULL);
        rows *with = make_rows(p, N, NULL, p->offset), *without = make_rows(p, N, NULL, NULL);
        posterior *u = NULL, *shifted = NULL;
        CHECK(posterior_create(with, regression_model(k), p->priors, &u, NULL) == SBPS_OK);
        CHECK(posterior_create(without, regression_model(k), p->priors, &shifted, NULL) ==
              SBPS_OK);
        double a, b;
        posterior_value(u, p->w, &a, NULL);
        p->w[0] += 0.75;
        posterior_value(shifted, p->w, &b, NULL);
        CHECK_NEAR(a, b, TOL_SUM);
        posterior_destroy(u);
        posterior_destroy(shifted);
        rows_destroy(with);
        rows_destroy(without);
        free(p);
    }
}

/* The mean over rows of x.w: what a centred intercept's prior is of. */
static double mean_predictor(const problem *p)
{
    double total = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < COLUMNS; j++) total += p->w[j + 1] * p->x[i * COLUMNS + j];
    return p->w[0] + total / N;
}

static coordinate_scale scale_of(const posterior *u, size_t j)
{
    size_t d = u->data->d;
    return j < d ? SCALE_PLAIN : u->model->auxiliaries[j - d].scale;
}

/* U by its definition, one row at a time. */
static void definition_property(const posterior *u, const problem *p)
{
    double expected = 0.0, value;
    for (size_t j = 0; j < u->dim; j++)
        expected -= prior_logpdf(&p->priors[j], scale_of(u, j),
                                 j == 0 && u->centred ? mean_predictor(p) : p->w[j]);
    for (size_t i = 0; i < N; i++) {
        double eta = p->offset[i] + p->w[0], out;
        for (size_t j = 0; j < COLUMNS; j++) eta += p->w[j + 1] * p->x[i * COLUMNS + j];
        batch b = {.k = u->k, .n = 1, .eta = &eta, .y = &p->y[i], .aux = p->w + u->data->d};
        u->model->predictor->loglik(&b, &out);
        expected -= p->weight[i] * out;
    }
    posterior_value(u, p->w, &value, NULL);
    CHECK_NEAR(value, expected, TOL_SUM);
}

TEST(value_is_minus_log_prior_minus_weighted_loglik)
{
    for_each_model(definition_property);
}

TEST(a_prior_for_positive_parameters_is_refused_on_a_weight)
{
    for (size_t k = 0; regression_model(k); k++) {
        problem *p = make_problem(regression_model(k));
        rows *data = make_rows(p, N, NULL, NULL);
        prior_parse("exponential(2)", &p->priors[1], NULL);
        posterior *u = NULL;
        sbps_error err = {0};
        CHECK(posterior_create(data, regression_model(k), p->priors, &u, &err) == SBPS_BAD_ARG);
        CHECK(!u);
        CHECK(strstr(err.text, "exponential(2)") && strstr(err.text, "'x1'"));
        rows_destroy(data);
        free(p);
    }
}

TEST(targets_are_checked_when_a_posterior_is_made)
{
    problem *p = make_problem(model_find("logistic"));
    p->y[5] = 3.0;
    rows *data = make_rows(p, N, NULL, NULL);
    posterior *u = NULL;
    sbps_error err = {0};
    CHECK(posterior_create(data, model_find("logistic"), p->priors, &u, &err) == SBPS_BAD_DATA);
    CHECK(!u && strstr(err.text, "holds 3"));
    rows_destroy(data);
    free(p);
}

CHECK_MAIN
