/* A row's influence is the mean square of its slope over the posterior, and its effect is the
 * shift of the mode when it is removed. */
#include "posterior/full/influence.h"
#include "linalg/cholesky.h"
#include "minibatch/fixture.h"
#include "posterior/mode/mode.h"

#define ROWS   ((size_t)120)
#define POINTS 2000

typedef struct {
    table t;
    mode *m;
    double factor[DIM_MAX * DIM_MAX];
    size_t d;
} place;

static place place_make(const model_kind *model, bool weighted)
{
    place p = {.t = table_make(model, (table_spec){.n = ROWS,
                                                   .columns = 3,
                                                   .weights = "normal(0,5)",
                                                   .sigma = "exponential(1)",
                                                   .weighted = weighted})};
    p.d = p.t.u->dim;
    mode_find(p.t.u, NULL, &p.m, NULL);
    memcpy(p.factor, p.m->hessian, p.d * p.d * sizeof(double));
    CHECK(cholesky(p.d, p.factor));
    return p;
}

static void place_close(place *p)
{
    mode_destroy(p->m);
    table_close(&p->t);
}

/* L'^-1 z */
static void unwhiten(const place *p, double *z)
{
    for (size_t j = p->d; j-- > 0;) {
        for (size_t k = j + 1; k < p->d; k++) z[j] -= p->factor[k * p->d + j] * z[k];
        z[j] /= p->factor[j * p->d + j];
    }
}

/* A point around `centre`, and a direction of length 1 in the metric. */
static void draw(const place *p, rng *r, const double *centre, double *w, double *u)
{
    double norm = 0.0;
    for (size_t j = 0; j < p->d; j++) {
        w[j] = rng_normal(r);
        u[j] = rng_normal(r);
        norm += u[j] * u[j];
    }
    for (size_t j = 0; j < p->d; j++) u[j] /= sqrt(norm);
    unwhiten(p, w);
    unwhiten(p, u);
    for (size_t j = 0; j < p->d; j++) w[j] += centre[j];
}

static void agrees_with_draws(const place *p, size_t order, const double *centre)
{
    float influence[ROWS];
    influence_target to = {0};
    const influence_point at = {p->m->w, centre, p->factor};
    double sum[ROWS] = {0}, square[ROWS] = {0}, w[DIM_MAX], u[DIM_MAX];
    control *cv = NULL;
    to.rows[order] = influence;
    REQUIRE(influence_measure(p->t.u, &at, &to, NULL) == SBPS_OK);
    if (order)
        control_create(p->t.u, p->m->w, order == 2 ? CONTROL_HESSIAN : CONTROL_GRADIENT, NULL,
                       &cv, NULL);
    carved c = carve(&batch_full, p->t.u, ROWS, 1);
    minibatch_equip(&c.u, cv, c.u.is.noise);
    rng r = rng_stream(5, order, RNG_TEST);
    for (size_t i = 0; i < POINTS; i++) {
        double each[ROWS] = {0};
        draw(p, &r, centre, w, u);
        potential_set_line(&c.u.is, w, u);
        minibatch_add_squares(&c.u, 1.0, each);
        for (size_t k = 0; k < ROWS; k++) {
            sum[k] += each[k] / POINTS;
            square[k] += each[k] * each[k] / POINTS;
        }
    }
    double all = 0.0, drawn = 0.0;
    for (size_t k = 0; k < ROWS; k++) {
        double error = sqrt((square[k] - sum[k] * sum[k]) / POINTS), mine = influence[k];
        /* the remainder of the last order is small, with long tails */
        CHECK_Z(sum[k], mine * mine, error + 0.02 * mine * mine, MAX_Z);
        all += mine * mine;
        drawn += sum[k];
    }
    CHECK(fabs(all / drawn - 1.0) < 0.1);
    free(c.memory.base);
    control_destroy(cv);
}

TEST(influence_is_the_mean_square_slope_over_the_posterior)
{
    const model_kind *model;
    for (size_t k = 0; (model = regression_model(k)); k++) {
        place p = place_make(model, k % 2);
        for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
            agrees_with_draws(&p, order, p.m->w);
        place_close(&p);
    }
}

/* If rows are only counted, the counts are those of the rows. */
TEST(counts_are_those_of_rows)
{
    place p = place_make(regression_model(0), true);
    float influence[INFLUENCE_ORDERS][ROWS];
    double counts[INFLUENCE_ORDERS][STRATA_COUNTS];
    const influence_point at = {p.m->w, p.m->w, p.factor};
    influence_target by_row = {0}, counted = {.width = STRATA_COUNTS, .count = strata_add};
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        by_row.rows[i] = influence[i];
        counted.counts[i] = i == 1 ? NULL : counts[i];
    }
    REQUIRE(influence_measure(p.t.u, &at, &by_row, NULL) == SBPS_OK);
    REQUIRE(influence_measure(p.t.u, &at, &counted, NULL) == SBPS_OK);
    for (size_t i = 0; i < INFLUENCE_ORDERS; i += 2) {
        strata_tally expected, found;
        REQUIRE(strata_count(p.t.data, influence[i], &expected, NULL) == SBPS_OK);
        strata_from_counts(counts[i], &found);
        CHECK(!memcmp(expected.rows, found.rows, sizeof expected.rows));
        CHECK_NEAR(found.sum / expected.sum, 1.0, 1e-12);
        CHECK_NEAR(strata_squares(&found) / strata_squares(&expected), 1.0, 1e-12);
    }
    place_close(&p);
}

/* The reference need not be at the mode. */
TEST(influence_includes_the_distance_of_the_reference)
{
    place p = place_make(regression_model(0), false);
    double centre[DIM_MAX];
    for (size_t j = 0; j < p.d; j++) centre[j] = p.m->w[j] + 0.1 * (double)(j + 1);
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        agrees_with_draws(&p, order, centre);
    place_close(&p);
}

/* The mode without row k, whose weight becomes 0. */
static mode *mode_without(place *p, size_t k)
{
    mode *m = NULL;
    double kept = p->t.data->weight[k];
    p->t.data->weight[k] = 0.0;
    mode_find(p->t.u, NULL, &m, NULL);
    p->t.data->weight[k] = kept;
    return m;
}

/* To first order, which is less accurate if log p is not concave. */
TEST(effects_are_the_shifts_when_a_row_is_removed)
{
    const model_kind *model;
    for (size_t k = 0; (model = regression_model(k)); k++) {
        place p = place_make(model, true);
        row_effect found[8];
        row_effects effects = {.min_shift = 0.1, .capacity = 8, .list = found};
        const influence_point at = {p.m->w, p.m->w, p.factor};
        const influence_target to = {.effects = &effects};
        REQUIRE(influence_measure(p.t.u, &at, &to, NULL) == SBPS_OK);
        CHECK(effects.count > 2);
        for (size_t i = 0; i < effects.count; i++) {
            mode *without = mode_without(&p, found[i].row);
            double e[DIM_MAX] = {0};
            e[found[i].parameter] = 1.0;
            cholesky_solve(p.d, p.factor, e);
            double sd = sqrt(e[found[i].parameter]);
            double moved = (p.m->w[found[i].parameter] - without->w[found[i].parameter]) / sd;
            double part = model->facts.log_concave ? 0.3 : 0.5;
            CHECK(fabs(found[i].shift - moved) < part * fabs(moved) + 0.02);
            if (i > 0) CHECK(fabs(found[i].shift) <= fabs(found[i - 1].shift));
            mode_destroy(without);
        }
        place_close(&p);
    }
}

CHECK_MAIN
