/* Properties of mini-batches: which rows they hold, that their estimates are unbiased, and
 * that the variance they state is correct. */
#include "ingest/ingest.h"
#include "minibatch/fixture.h"

static bool noisy(const batch_kind *kind)
{
    return kind != &batch_full;
}

/* True if the rows are exchangeable. */
static bool is_exchangeable(const batch_kind *kind)
{
    return kind == &batch_window || kind == &batch_random;
}

static const table_spec small = {.n = 200,
                                 .columns = 3,
                                 .weights = "student_t(3,0.2,1.1)",
                                 .sigma = "exponential(1)",
                                 .weighted = true};

/* ---- which rows ---- */

#define ROWS 12 /* as many as columns: row i alone moves coordinate i */
#define TAKE 5

/* A linear model whose rows are unit vectors: the gradient is not zero where the row is in the
 * batch. */
static table unit_rows(void)
{
    table t = {0};
    double x[ROWS * ROWS] = {0}, y[ROWS];
    prior priors[ROWS + 1];
    rows_spec as = {.target = "y", .seed = 1};
    for (size_t i = 0; i < ROWS; i++) {
        x[i * ROWS + i] = 1.0;
        y[i] = 1.0 + (double)i;
    }
    for (size_t j = 0; j <= ROWS; j++) prior_parse("flat", &priors[j], NULL);
    rows_copy(ROWS, ROWS, x, NULL, y, NULL, NULL, &as, &t.data, NULL);
    if (t.data) posterior_create(t.data, model_find("linear"), priors, &t.u, NULL);
    return t;
}

/* Which stored rows are in the next batch; returns how many. */
static size_t rows_in_batch(minibatch *u, const table *t, bool seen[ROWS])
{
    double g[ROWS + 1];
    size_t count = 0;
    potential_observe(&u->is, 0.0);
    potential_gradient(&u->is, g);
    for (size_t i = 0; i < ROWS; i++) {
        size_t column = 0;
        while (t->data->storage.x[i * t->data->stride + column] == 0.0) column++;
        seen[i] = g[column] != 0.0;
        /* each row once: a row drawn twice would have twice the weight */
        if (seen[i])
            CHECK_NEAR(g[column], -t->data->y[i] * ROWS / (double)u->is.batch, TOL_SUM);
        count += seen[i];
    }
    return count;
}

TEST(a_batch_holds_n_different_rows)
{
    table t = unit_rows();
    REQUIRE(t.u);
    for (size_t k = 0; batch_kinds[k]; k++)
        for (size_t n = 1; n <= ROWS; n++) {
            if (!is_exchangeable(batch_kinds[k])) continue;
            carved c = carve(batch_kinds[k], t.u, n, 1);
            bool seen[ROWS];
            potential_set_line(&c.u.is, t.p, t.q);
            for (size_t i = 0; i < 100; i++) CHECK(rows_in_batch(&c.u, &t, seen) == n);
            free(c.memory.base);
        }
    table_close(&t);
}

TEST(every_row_is_used_equally_often)
{
    const double batches = 40000, fraction = (double)TAKE / ROWS;
    table t = unit_rows();
    REQUIRE(t.u);
    for (size_t k = 0; batch_kinds[k]; k++) {
        if (!is_exchangeable(batch_kinds[k])) continue;
        carved c = carve(batch_kinds[k], t.u, TAKE, 2);
        double used[ROWS] = {0};
        bool seen[ROWS];
        potential_set_line(&c.u.is, t.p, t.q);
        for (size_t i = 0; i < (size_t)batches; i++) {
            rows_in_batch(&c.u, &t, seen);
            for (size_t r = 0; r < ROWS; r++) used[r] += seen[r];
        }
        for (size_t r = 0; r < ROWS; r++)
            CHECK_Z(used[r] / batches, fraction, sqrt(fraction * (1 - fraction) / batches),
                    MAX_Z);
        free(c.memory.base);
    }
    table_close(&t);
}

TEST(windows_are_consecutive_and_wrap_round)
{
    table t = unit_rows();
    REQUIRE(t.u);
    carved c = carve(&batch_window, t.u, TAKE, 3);
    bool seen[ROWS], wrapped = false;
    potential_set_line(&c.u.is, t.p, t.q);
    for (size_t i = 0; i < 1000; i++) {
        size_t edges = 0;
        rows_in_batch(&c.u, &t, seen);
        for (size_t r = 0; r < ROWS; r++) edges += seen[r] != seen[(r + 1) % ROWS];
        CHECK(edges == 2);
        wrapped = wrapped || (seen[0] && seen[ROWS - 1]);
    }
    CHECK(wrapped);
    free(c.memory.base);
    table_close(&t);
}

TEST(random_rows_come_in_every_pair_equally_often_and_batches_are_independent)
{
    const double batches = 40000, fraction = TAKE / (double)ROWS;
    const double pair = fraction * (TAKE - 1) / (ROWS - 1);
    table t = unit_rows();
    REQUIRE(t.u);
    carved c = carve(&batch_random, t.u, TAKE, 4);
    double together[ROWS][ROWS] = {0}, after[ROWS][ROWS] = {0};
    bool seen[ROWS], before[ROWS];
    potential_set_line(&c.u.is, t.p, t.q);
    rows_in_batch(&c.u, &t, before);
    for (size_t i = 0; i < (size_t)batches; i++) {
        rows_in_batch(&c.u, &t, seen);
        for (size_t a = 0; a < ROWS; a++)
            for (size_t b = 0; b < ROWS; b++) {
                together[a][b] += seen[a] && seen[b];
                after[a][b] += before[a] && seen[b];
            }
        memcpy(before, seen, sizeof before);
    }
    for (size_t a = 0; a < ROWS; a++)
        for (size_t b = 0; b < ROWS; b++) {
            double both = fraction * fraction; /* in two consecutive batches: independent */
            CHECK_Z(after[a][b] / batches, both, sqrt(both * (1 - both) / batches) * 1.5,
                    MAX_Z);
            if (a == b) continue;
            CHECK_Z(together[a][b] / batches, pair, sqrt(pair * (1 - pair) / batches), MAX_Z);
        }
    free(c.memory.base);
    table_close(&t);
}

/* ---- unbiasedness ---- */

TEST(slope_and_gradient_of_batches_are_unbiased)
{
    for (size_t m = 0; regression_model(m); m++) {
        table t = table_make(regression_model(m), small);
        REQUIRE(t.u);
        carved all = carve(&batch_full, t.u, t.data->local_rows, 1);
        double exact[DIM_MAX], g[DIM_MAX];
        potential_set_line(&all.u.is, t.p, t.q);
        double slope = potential_observe(&all.u.is, 0.4).slope;
        potential_gradient(&all.u.is, exact);
        for (size_t k = 0; batch_kinds[k]; k++) {
            if (!noisy(batch_kinds[k])) continue;
            carved c = carve(batch_kinds[k], t.u, 10, 5);
            tally slopes = {.about = slope}, gradient[DIM_MAX];
            for (size_t j = 0; j < t.u->dim; j++) gradient[j] = (tally){.about = exact[j]};
            potential_set_line(&c.u.is, t.p, t.q);
            for (size_t i = 0; i < 20000; i++) {
                tally_add(&slopes, potential_observe(&c.u.is, 0.4).slope);
                potential_gradient(&c.u.is, g);
                for (size_t j = 0; j < t.u->dim; j++) tally_add(&gradient[j], g[j]);
            }
            CHECK_Z(tally_mean(&slopes), slope, tally_error(&slopes), MAX_Z);
            for (size_t j = 0; j < t.u->dim; j++)
                CHECK_Z(tally_mean(&gradient[j]), exact[j], tally_error(&gradient[j]), MAX_Z);
            free(c.memory.base);
        }
        free(all.memory.base);
        table_close(&t);
    }
}

/* A quarter of the rows: without 1 - n/N the stated variance would be a third too large; four
 * rows: with n for n - 1 it would be a quarter too small. */
TEST(stated_variance_of_random_rows_is_the_one_they_have)
{
    static const size_t takes[] = {50, 4};
    for (size_t m = 0; regression_model(m); m++)
        for (size_t s = 0; s < 2; s++) {
            table t = table_make(regression_model(m), small);
            REQUIRE(t.u);
            carved all = carve(&batch_full, t.u, t.data->local_rows, 1);
            carved c = carve(&batch_random, t.u, takes[s], 6);
            potential_set_line(&all.u.is, t.p, t.q);
            potential_set_line(&c.u.is, t.p, t.q);
            tally slopes = {.about = potential_observe(&all.u.is, 0.4).slope}, stated = {0};
            for (size_t i = 0; i < 40000; i++) {
                observation o = potential_observe(&c.u.is, 0.4);
                tally_add(&slopes, o.slope);
                tally_add(&stated, o.variance);
            }
            double error = hypot(tally_square_error(&slopes), tally_error(&stated));
            CHECK_Z(tally_mean(&stated), slopes.squares / slopes.n, error, MAX_Z);
            CHECK(error <
                  0.05 *
                      tally_mean(&stated)); /* precise enough to distinguish the alternatives */
            free(c.memory.base);
            free(all.memory.base);
            table_close(&t);
        }
}

/* Eq. (10) holds for windows on average over shuffles only. */
static void windows_property(const batch_kind *kind)
{
    tally excess = {0}, stated = {0};
    for (uint64_t shuffle = 0; shuffle < 300; shuffle++) {
        table_spec spec = small;
        spec.shuffle = shuffle;
        table t = table_make(model_find("logistic"), spec);
        REQUIRE(t.u);
        carved all = carve(&batch_full, t.u, t.data->local_rows, 1);
        carved c = carve(kind, t.u, 50, shuffle);
        potential_set_line(&all.u.is, t.p, t.q);
        potential_set_line(&c.u.is, t.p, t.q);
        double slope = potential_observe(&all.u.is, 0.4).slope, square = 0.0, variance = 0.0;
        for (size_t i = 0; i < 200; i++) {
            observation o = potential_observe(&c.u.is, 0.4);
            square += (o.slope - slope) * (o.slope - slope) / 200;
            variance += o.variance / 200;
        }
        tally_add(&excess, square - variance);
        tally_add(&stated, variance);
        free(c.memory.base);
        free(all.memory.base);
        table_close(&t);
    }
    CHECK_Z(tally_mean(&excess), 0.0, tally_error(&excess), MAX_Z);
    CHECK(tally_error(&excess) < 0.08 * tally_mean(&stated));
}

TEST(stated_variance_of_windows_is_right_on_average_over_shuffles)
{
    windows_property(&batch_window);
    windows_property(&batch_strata); /* a window in each */
}

TEST(value_of_batches_is_unbiased_with_the_sd_it_states)
{
    for (size_t m = 0; regression_model(m); m++) {
        table t = table_make(regression_model(m), small);
        REQUIRE(t.u);
        double exact, value, sd;
        posterior_value(t.u, t.p, &exact, NULL);
        for (size_t k = 0; batch_kinds[k]; k++) {
            if (!noisy(batch_kinds[k])) continue;
            carved c = carve(batch_kinds[k], t.u, 50, 7);
            tally values = {.about = exact}, stated = {0};
            for (size_t i = 0; i < 20000; i++) {
                potential_value(&c.u.is, t.p, &value, &sd);
                tally_add(&values, value);
                tally_add(&stated, sd * sd);
            }
            double error = hypot(tally_square_error(&values), tally_error(&stated));
            CHECK_Z(tally_mean(&values), exact, tally_error(&values), MAX_Z);
            if (batch_kinds[k] == &batch_random)
                CHECK_Z(tally_mean(&stated), values.squares / values.n, error, MAX_Z);
            free(c.memory.base);
        }
        table_close(&t);
    }
}

CHECK_MAIN
