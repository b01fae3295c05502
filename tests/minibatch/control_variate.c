/* A control variate changes nothing but the noise: on the full data slopes and gradients
 * stay, and the variance of a row's slope falls with the second or the fourth power of the
 * distance. */
#include "ingest/ingest.h"
#include "minibatch/fixture.h"

/* The reference: not where p is, and not the mode. */
static control *control_at(const posterior *u, size_t order)
{
    double w[DIM_MAX];
    control *cv = NULL;
    for (size_t j = 0; j < u->dim; j++) w[j] = j % 2 ? -0.4 : 0.2;
    control_create(u, w, order ? CONTROL_HESSIAN : CONTROL_GRADIENT, NULL, &cv, NULL);
    CHECK(cv);
    return cv;
}

static void same_property(const posterior *u, const double *p, const double *q,
                          double tolerance)
{
    for (size_t order = 0; order < 2; order++) {
        control *cv = control_at(u, order);
        carved plain = carve(&batch_full, u, u->data->local_rows, 1);
        carved with = carve(&batch_full, u, u->data->local_rows, 1);
        minibatch_equip(&with.u, cv, with.u.is.noise);
        potential_set_line(&plain.u.is, p, q);
        potential_set_line(&with.u.is, p, q);
        for (double t = 0.0; t < 2.0; t += 0.7) {
            double a[DIM_MAX], b[DIM_MAX];
            double slope = potential_observe(&plain.u.is, t).slope;
            CHECK_NEAR(potential_observe(&with.u.is, t).slope / slope, 1.0, tolerance);
            potential_gradient(&plain.u.is, a);
            potential_gradient(&with.u.is, b);
            double scale = sqrt(dot(u->dim, a, a));
            for (size_t j = 0; j < u->dim; j++)
                CHECK_NEAR(b[j] / scale, a[j] / scale, tolerance);
        }
        double a[DIM_MAX], b[DIM_MAX];
        potential_fresh_gradient(&plain.u.is, p, a);
        potential_fresh_gradient(&with.u.is, p, b);
        for (size_t j = 0; j < u->dim; j++)
            CHECK_NEAR(b[j], a[j], tolerance * sqrt(dot(u->dim, a, a)));
        free(plain.memory.base);
        free(with.memory.base);
        control_destroy(cv);
    }
}

static double variance_at(const posterior *u, const control *cv, const double *q, double far)
{
    double p[DIM_MAX];
    carved c = carve(&batch_full, u, u->data->local_rows, 1);
    for (size_t j = 0; j < u->dim; j++) p[j] = cv->w[j] + far * (j % 3 ? 1.0 : -0.7);
    minibatch_equip(&c.u, cv, c.u.is.noise);
    potential_set_line(&c.u.is, p, q);
    double variance = minibatch_row_variance(&c.u);
    free(c.memory.base);
    return variance;
}

/* Half the distance: a quarter of the variance, or a sixteenth. */
static void power_property(const posterior *u, const double *q)
{
    for (size_t order = 0; order < 2; order++) {
        control *cv = control_at(u, order);
        double near = variance_at(u, cv, q, 0.005), far = variance_at(u, cv, q, 0.01);
        if (far > 0.0) /* nothing remains of a quadratic model */
            CHECK_NEAR(log2(far / near), order ? 4.0 : 2.0, 0.1);
        control_destroy(cv);
    }
}

TEST(predictor_models)
{
    for (size_t k = 0; regression_model(k); k++)
        for (size_t weighted = 0; weighted < 2; weighted++) {
            table_spec spec = {.n = 607, /* more than a block of a sum over rows */
                               .columns = 5,
                               .weights = "student_t(3,0.2,1.1)",
                               .sigma = "exponential(1.3)",
                               .weighted = weighted,
                               .centred = weighted};
            table t = table_make(regression_model(k), spec);
            CHECK(t.u);
            if (t.u) same_property(t.u, t.p, t.q, 1e-11);
            if (t.u) power_property(t.u, t.q);
            table_close(&t);
        }
}

/* An observation by a control variate without numbers per row, and by one with them. */
static void check_same_terms(const posterior *u, const control *kept, const control *recomputed,
                             const batch_kind *kind, size_t n, const double *p, const double *q)
{
    carved a = carve(kind, u, n, 1), b = carve(kind, u, n, 1);
    minibatch_equip(&a.u, kept, 0.0);
    minibatch_equip(&b.u, recomputed, 0.0);
    potential_set_line(&a.u.is, p, q);
    potential_set_line(&b.u.is, p, q);
    for (size_t i = 0; i < 40; i++) { /* some windows wrap round */
        double t = 0.1 * (double)(i % 5), g[2][DIM_MAX];
        observation x = potential_observe(&a.u.is, t), y = potential_observe(&b.u.is, t);
        double scale = sqrt(x.variance) + 1e-9 * fabs(x.slope);
        CHECK_NEAR((y.slope - x.slope) / scale, 0.0, 1e-9);
        CHECK_NEAR(y.variance / x.variance, 1.0, 1e-9);
        potential_gradient(&a.u.is, g[0]);
        potential_gradient(&b.u.is, g[1]);
        double size = sqrt(dot(u->dim, g[0], g[0]));
        for (size_t j = 0; j < u->dim; j++) CHECK_NEAR(g[1][j] / size, g[0][j] / size, 1e-10);
    }
    free(a.memory.base);
    free(b.memory.base);
}

/* Tables with recompute_rows evaluate rows again: the same numbers, and none of them in
 * memory. */
TEST(recomputed_tables)
{
    for (size_t k = 0; regression_model(k); k++)
        for (size_t weighted = 0; weighted < 2; weighted++) {
            table_spec spec = {.n = 607,
                               .columns = 5,
                               .weights = "normal(0,2)",
                               .sigma = "exponential(1.3)",
                               .weighted = weighted};
            table t = table_make(regression_model(k), spec);
            CHECK(t.u);
            for (size_t order = 0; t.u && order < 2; order++) {
                control *kept = control_at(t.u, order);
                t.data->recompute_rows = true;
                control *recomputed = control_at(t.u, order);
                CHECK(recomputed->at && !recomputed->d_eta && !recomputed->eta &&
                      !recomputed->base);
                check_same_terms(t.u, kept, recomputed, &batch_window, 50, t.p, t.q);
                check_same_terms(t.u, kept, recomputed, &batch_random, 50, t.p, t.q);
                same_property(t.u, t.p, t.q, 1e-11);
                t.data->recompute_rows = false;
                control_destroy(kept);
                control_destroy(recomputed);
            }
            table_close(&t);
        }
}

/* The Hessian is by differences, up to their error. */
static void general_property(const char *name, const model_shape *shape)
{
    double x[60 * 3], y[60];
    rng r = rng_stream(21, 0, RNG_TEST);
    for (size_t i = 0; i < 180; i++) x[i] = rng_normal(&r);
    for (size_t i = 0; i < 60; i++) y[i] = (double)(i % 3);
    rows_spec as = {.target = "y", .intercept = true};
    rows *data = NULL;
    posterior *u = NULL;
    CHECK(rows_copy(60, 3, x, NULL, y, NULL, NULL, &as, &data, NULL) == SBPS_OK);
    CHECK(posterior_open(data, model_find(name), shape, &u, NULL) == SBPS_OK);
    if (u) {
        double p[DIM_MAX], q[DIM_MAX];
        prior priors[DIM_MAX];
        CHECK(u->dim <= DIM_MAX);
        for (size_t j = 0; j < u->dim; j++) {
            p[j] = 0.5 * rng_normal(&r);
            q[j] = rng_normal(&r);
            prior_parse("normal(0,2)", &priors[j], NULL);
        }
        posterior_set_priors(u, priors, NULL);
        same_property(u, p, q, 1e-6);
        power_property(u, q);
    }
    posterior_destroy(u);
    rows_destroy(data);
}

TEST(general_models)
{
    general_property("softmax", NULL);
    general_property("network",
                     &(model_shape){.hidden = "2", .activation = "tanh", .head = "softmax"});
}

CHECK_MAIN
