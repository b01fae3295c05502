/* Properties of every mini-batch: the slope is the derivative of the value, the gradient is the
 * gradient of the value, and sums do not depend on how the batch is cut into blocks. */
#include "minibatch/fixture.h"

static const char *const weight_priors[] = {"normal(0.3,1.2)", "student_t(3,0.2,1.1)",
                                            "laplace(0.1,0.7)"};
static const char *const sigma_priors[] = {"exponential(1.3)", "normal(0,2)"};
static const double times[] = {0.0, 0.31, 1.7};

/* Runs `property` for every model, prior and presence of weights, the intercept centred with
 * them. */
static void for_each_table(void (*property)(const table *t))
{
    for (size_t k = 0; regression_model(k); k++)
        for (size_t i = 0; i < sizeof weight_priors / sizeof *weight_priors; i++)
            for (size_t weighted = 0; weighted < 2; weighted++) {
                table_spec spec = {.n = 307,
                                   .columns = 5,
                                   .weights = weight_priors[i],
                                   .sigma = sigma_priors[i % 2],
                                   .weighted = weighted,
                                   .centred = weighted};
                table t = table_make(regression_model(k), spec);
                CHECK(t.u);
                if (t.u) property(&t);
                table_close(&t);
            }
}

static void move(const table *t, double time, double *w)
{
    for (size_t j = 0; j < t->u->dim; j++) w[j] = t->p[j] + time * t->q[j];
}

static double value_at(const table *t, double time)
{
    double w[DIM_MAX], value = NAN;
    move(t, time, w);
    posterior_value(t->u, w, &value, NULL);
    return value;
}

#define EACH_TIME(i)                                                                           \
    size_t i = 0;                                                                              \
    i < sizeof times / sizeof *times;                                                          \
    i++

static void full_slope_property(const table *t)
{
    const double h = 1e-5;
    carved c = carve(&batch_full, t->u, t->data->local_rows, 1);
    potential_set_line(&c.u.is, t->p, t->q);
    for (EACH_TIME(i)) {
        observation o = potential_observe(&c.u.is, times[i]);
        double want = (value_at(t, times[i] + h) - value_at(t, times[i] - h)) / (2 * h);
        CHECK_NEAR(o.slope, want, TOL_DIFF);
        CHECK(o.variance == 0.0 && o.rows == t->data->local_rows);
    }
    free(c.memory.base);
}

TEST(full_slope_is_the_finite_difference_of_the_posterior)
{
    for_each_table(full_slope_property);
}

static void full_gradient_property(const table *t)
{
    carved c = carve(&batch_full, t->u, t->data->local_rows, 1);
    potential_set_line(&c.u.is, t->p, t->q);
    for (EACH_TIME(i)) {
        double w[DIM_MAX], want[DIM_MAX], got[DIM_MAX];
        move(t, times[i], w);
        posterior_gradient(t->u, w, NULL, want, NULL);
        potential_observe(&c.u.is, times[i]);
        potential_gradient(&c.u.is, got);
        double scale = sqrt(dot(t->u->dim, want, want));
        for (size_t j = 0; j < t->u->dim; j++)
            CHECK_NEAR(got[j] / scale, want[j] / scale, TOL_SUM);
    }
    free(c.memory.base);
}

TEST(full_gradient_is_that_of_the_posterior)
{
    for_each_table(full_gradient_property);
}

static void full_value_property(const table *t)
{
    carved c = carve(&batch_full, t->u, t->data->local_rows, 1);
    double value, sd;
    potential_value(&c.u.is, t->p, &value, &sd);
    CHECK_NEAR(value, value_at(t, 0.0), TOL_SUM);
    CHECK(sd == 0.0);
    free(c.memory.base);
}

TEST(full_value_is_that_of_the_posterior)
{
    for_each_table(full_value_property);
}

static void batch_slope_property(const table *t)
{
    for (size_t k = 0; batch_kinds[k]; k++) {
        size_t n = batch_kinds[k] == &batch_full ? t->data->local_rows : 40;
        carved c = carve(batch_kinds[k], t->u, n, 2);
        double g[DIM_MAX];
        potential_set_line(&c.u.is, t->p, t->q);
        for (size_t repeat = 0; repeat < 30; repeat++) {
            observation o = potential_observe(&c.u.is, times[repeat % 3]);
            potential_gradient(&c.u.is, g);
            double scale = sqrt(dot(t->u->dim, g, g) * dot(t->u->dim, t->q, t->q));
            CHECK_NEAR(o.slope / scale, dot(t->u->dim, g, t->q) / scale, TOL_SUM);
            CHECK(o.rows == n);
        }
        free(c.memory.base);
    }
}

TEST(slope_is_the_gradient_along_the_line_on_every_batch)
{
    for_each_table(batch_slope_property);
}

/* ---- against rows taken one at a time ---- */

#define MANY 3001 /* nearly three blocks */

static size_t row_in_batch(const minibatch *u, size_t i)
{
    return u->list ? u->list[i] : (u->state->first + i) % u->target->data->local_rows;
}

typedef struct {
    double slope, variance, gradient[DIM_MAX];
} expected;

/* The likelihood's part, prior left out: the tables here have flat priors. */
static expected one_by_one(const minibatch *u, const table *t, double time)
{
    const rows *data = t->data;
    size_t dim = t->u->dim, d = data->d;
    size_t count = dim - d;
    double n = (double)u->is.batch, total = (double)data->local_rows, sum = 0.0, squares = 0.0;
    expected e = {0};
    for (size_t i = 0; i < u->is.batch; i++) {
        size_t row = row_in_batch(u, i);
        const double *x = data->storage.x + row * data->stride;
        double deta = dot(d, x, t->q), g, d_eta, d_aux[2], aux[2];
        double eta = dot(d, x, t->p) + time * deta + data->offset[row];
        for (size_t j = 0; j < count; j++) aux[j] = t->p[d + j] + time * t->q[d + j];
        batch b = {.k = t->u->k, .n = 1, .eta = &eta, .y = data->y + row, .deta = &deta};
        b.aux = aux;
        b.daux = t->q + d;
        b.pitch = 1;
        t->u->model->predictor->slope(&b, &g);
        t->u->model->predictor->gradient(&b, &d_eta, count ? d_aux : NULL);
        g *= data->weight[row];
        sum += g;
        squares += g * g;
        for (size_t j = 0; j < d; j++)
            e.gradient[j] -= total / n * data->weight[row] * d_eta * x[j];
        for (size_t j = 0; j < count; j++)
            e.gradient[d + j] -= total / n * data->weight[row] * d_aux[j];
    }
    e.slope = -total / n * sum;
    if (u->is.batch > 1 && u->is.batch < data->local_rows)
        e.variance =
            (squares - sum * sum / n) / (n - 1.0) * total * total / n * (1 - n / total);
    /* the auxiliaries' Jacobian: log p(w) = w for a flat prior on exp(w), log s (1 - s) for
     * one on s = 1/(1 + e^-w) */
    for (size_t j = d; j < dim; j++) {
        double probability = 1.0 / (1.0 + exp(-t->p[j] - time * t->q[j]));
        double slope = t->u->scale[j] == SCALE_LOGIT ? 1.0 - 2.0 * probability : 1.0;
        e.slope -= slope * t->q[j];
        e.gradient[j] -= slope;
    }
    return e;
}

static void check_batch(minibatch *u, const table *t, double time, bool *wrapped)
{
    double g[DIM_MAX];
    observation o = potential_observe(&u->is, time);
    potential_gradient(&u->is, g);
    expected e = one_by_one(u, t, time);
    double scale = fmax(1.0, sqrt(dot(t->u->dim, e.gradient, e.gradient)));
    CHECK_NEAR(o.slope / scale, e.slope / scale, TOL_SUM);
    CHECK_NEAR(o.variance / (scale * scale), e.variance / (scale * scale), 1e-10);
    for (size_t j = 0; j < t->u->dim; j++)
        CHECK_NEAR(g[j] / scale, e.gradient[j] / scale, TOL_SUM);
    size_t end = u->state->first + u->is.batch;
    if (!u->list && end > MANY && (MANY - u->state->first) % MINIBATCH_BLOCK) *wrapped = true;
}

TEST(sums_do_not_depend_on_blocks_or_on_where_a_window_wraps_round)
{
    static const size_t sizes[] = {2, 7, 1023, 1024, 1025, 2500, MANY - 1, MANY};
    for (size_t m = 0; regression_model(m); m++) {
        table_spec spec = {
            .n = MANY, .columns = 6, .weights = "flat", .sigma = "flat", .weighted = true};
        table t = table_make(regression_model(m), spec);
        REQUIRE(t.u);
        for (size_t k = 0; batch_kinds[k]; k++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (batch_kinds[k] == &batch_full && sizes[s] != MANY) continue;
                if (batch_kinds[k] == &batch_strata) continue;
                carved c = carve(batch_kinds[k], t.u, sizes[s], 3);
                bool wrapped = false;
                potential_set_line(&c.u.is, t.p, t.q);
                for (size_t i = 0; i < 12; i++) check_batch(&c.u, &t, times[i % 3], &wrapped);
                if (batch_kinds[k] == &batch_window && sizes[s] >= 1023)
                    CHECK(wrapped); /* else the test would be empty */
                free(c.memory.base);
            }
        table_close(&t);
    }
}

TEST(observe_again_keeps_the_rows_and_observe_does_not)
{
    table_spec spec = {.n = 500, .columns = 3, .weights = "normal(0,1)", .sigma = "flat"};
    table t = table_make(model_find("logistic"), spec);
    REQUIRE(t.u);
    for (size_t k = 0; batch_kinds[k]; k++) {
        bool full = batch_kinds[k] == &batch_full;
        carved c = carve(batch_kinds[k], t.u, full ? 500 : 20, 4);
        double g[DIM_MAX], other[DIM_MAX] = {0.3, -1.0, 0.2, 0.9};
        size_t fresh = 0;
        for (size_t i = 0; i < 20; i++) {
            potential_set_line(&c.u.is, t.p, t.q);
            double slope = potential_observe(&c.u.is, 0.0).slope;
            potential_gradient(&c.u.is, g);
            potential_set_line(&c.u.is, t.p, other); /* from the same point another way */
            double turned = potential_observe_again(&c.u.is, 0.0).slope;
            CHECK_NEAR(turned, dot(t.u->dim, g, other), 1e-10);
            potential_set_line(&c.u.is, t.p, t.q);
            CHECK(potential_observe_again(&c.u.is, 0.0).slope == slope);
            fresh += potential_observe(&c.u.is, 0.0).slope != slope;
        }
        CHECK(full ? fresh == 0 : fresh >= 18);
        free(c.memory.base);
    }
    table_close(&t);
}

CHECK_MAIN
