/* Slopes of a batch in one pass equal those computed row by row, for batches of every kind;
 * the gradient from stored residuals, and the slopes along a new direction on the same
 * batch, equal those computed from scratch. */
#include "minibatch/fixture.h"
#include "posterior/minibatch/row_terms.h"

/* Orders of the control variate: none, gradient, Hessian. */
static control *control_of(const posterior *u, size_t order)
{
    double w[DIM_MAX];
    control *cv = NULL;
    for (size_t j = 0; j < u->dim; j++) w[j] = j % 2 ? -0.2 : 0.1;
    if (order > 0)
        control_create(u, w, order == 2 ? CONTROL_HESSIAN : CONTROL_GRADIENT, NULL, &cv, NULL);
    return cv;
}

/* Row by row, by row_terms. */
static void sums_of_terms(minibatch *u, double t, double sums[2])
{
    sums[0] = sums[1] = 0.0;
    for (size_t done = 0; done < u->is.batch;) {
        row_range r = minibatch_rows(u, done);
        u->terms->slopes(u, r, t, 0);
        terms_weigh(u, r, u->out);
        for (size_t i = 0; i < r.n; i++) {
            sums[0] += u->out[i];
            sums[1] += u->out[i] * u->out[i];
        }
        done += r.n;
    }
    u->state->residuals_kept = u->state->line_reversed = false;
}

static void slope_property(minibatch *u)
{
    double sums[2], expected[2];
    if (!slopes_apply(u)) return;
    slopes_sum(u, 0, u->is.batch, 0.4, sums);
    sums_of_terms(u, 0.4, expected);
    CHECK_NEAR(sums[0], expected[0], 1e-11);
    CHECK_NEAR(sums[1], expected[1], 1e-11);
}

static void gradient_property(minibatch *u)
{
    double kept[DIM_MAX], fresh[DIM_MAX];
    potential_observe_again(&u->is, 0.4);
    potential_gradient(&u->is, kept);
    u->state->residuals_kept = false;
    potential_gradient(&u->is, fresh);
    double scale = sqrt(dot(u->target->dim, fresh, fresh));
    for (size_t j = 0; j < u->target->dim; j++)
        CHECK_NEAR(kept[j] / scale, fresh[j] / scale, 1e-11);
}

/* After 0.4 along q, in another direction. */
static void turned_property(minibatch *u, const double *p, const double *q)
{
    double at[DIM_MAX], along[DIM_MAX], kept[DIM_MAX], fresh[DIM_MAX];
    for (size_t j = 0; j < u->target->dim; j++) {
        at[j] = p[j] + 0.4 * q[j];
        along[j] = q[j] * (j % 2 ? 0.8 : -1.1);
    }
    potential_observe_again(&u->is, 0.4);
    potential_reverse_line(&u->is, at, along);
    observation one = potential_observe_again(&u->is, 0.0);
    potential_gradient(&u->is, kept);
    potential_set_line(&u->is, at, along);
    observation two = potential_observe_again(&u->is, 0.0);
    potential_gradient(&u->is, fresh);
    CHECK_NEAR(one.slope / two.slope, 1.0, 1e-10);
    CHECK(two.variance == 0.0 || fabs(one.variance / two.variance - 1.0) < 1e-9);
    double scale = sqrt(dot(u->target->dim, fresh, fresh));
    for (size_t j = 0; j < u->target->dim; j++)
        CHECK_NEAR(kept[j] / scale, fresh[j] / scale, 1e-11);
}

static void check_properties(const table *t, const batch_kind *kind, size_t n)
{
    for (size_t order = 0; order < 3; order++) {
        control *cv = control_of(t->u, order);
        carved c = carve(kind, t->u, n, 5);
        minibatch_equip(&c.u, cv, c.u.is.noise);
        for (size_t k = 0; k < 20; k++) { /* some windows wrap round */
            potential_set_line(&c.u.is, t->p, t->q);
            potential_observe(&c.u.is, 0.1);
            slope_property(&c.u);
            gradient_property(&c.u);
            turned_property(&c.u, t->p, t->q);
        }
        free(c.memory.base);
        control_destroy(cv);
    }
}

static void for_each_table(bool weighted)
{
    size_t summed = 0;
    for (size_t k = 0; regression_model(k); k++) {
        table t = table_make(regression_model(k), (table_spec){.n = 61,
                                                               .columns = 4,
                                                               .weights = "normal(0.3,2)",
                                                               .sigma = "exponential(1)",
                                                               .weighted = weighted,
                                                               .shuffle = 3});
        CHECK(t.u);
        if (!t.u) continue;
        summed += t.u->mean != MEAN_OTHER;
        check_properties(&t, &batch_full, t.data->local_rows);
        check_properties(&t, &batch_window, 17);
        check_properties(&t, &batch_random, 17);
        table_close(&t);
    }
    CHECK(summed >= 2); /* logistic and poisson */
}

TEST(one_pass_gives_what_rows_give_one_by_one)
{
    for_each_table(false);
}

TEST(slopes_include_weights_and_offsets)
{
    for_each_table(true);
}

/* More rows than a block holds: residuals are not stored, and no rows are left out. */
TEST(large_batches_go_through_in_blocks)
{
    table t = table_make(model_find("logistic"), (table_spec){.n = 2500,
                                                              .columns = 3,
                                                              .weights = "normal(0,2)",
                                                              .sigma = "flat",
                                                              .weighted = true,
                                                              .shuffle = 1});
    REQUIRE(t.u);
    check_properties(&t, &batch_window, 1500);
    check_properties(&t, &batch_full, 2500);
    table_close(&t);
}

CHECK_MAIN
