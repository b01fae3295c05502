/* One row in a hundred thousand far out, and a column distributed as amounts of money: most
 * batches contain neither, and the posterior is not the normal at its mode. Means and sds
 * against quadrature, three seeds, or five at length. */
#include "check.h"
#include "stat/quadrature.h"

#define ROWS  ((size_t)100000)
#define SEEDS ((int)check_size(3, 5, 5))

/* Targets independent of x, except for the inserted row. */
static table spread_rows(double (*draw)(rng *))
{
    table t = simulate(ROWS, -0.2, 0.0);
    rng random = rng_stream(7, 0, RNG_TEST);
    for (size_t i = 0; i < t.n; i++) t.x[i] = draw(&random);
    return t;
}

static void measure(table *t)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < t->n; i++) sum += t->x[i];
    t->mean = sum / (double)t->n;
    for (size_t i = 0; i < t->n; i++) square += pow(t->x[i] - t->mean, 2.0);
    t->scale = 2.5 / sqrt(square / (double)t->n);
}

static void agrees(const table *t, bool ruled)
{
    known truth[2];
    integrate(t, truth);
    for (int seed = 1; seed <= SEEDS; seed++) {
        char settings[64];
        snprintf(settings, sizeof settings, "model=logistic ess=1500 seed=%d", seed);
        sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, settings);
        for (size_t j = 0; j < 2; j++)
            check_moments(settings, r, j, truth[j], r->info.bias_budget);
        CHECK(r->info.rows_touched < 1000.0 * r->info.min_ess);
        CHECK(r->info.bias_estimate < r->info.bias_budget);
        CHECK(4.0 * r->info.eta_unmet < r->info.bias_budget);
        if (ruled) CHECK(strstr(r->info.influential_rows, "row 31415 moves"));
        sbps_result_destroy(r);
    }
}

TEST(a_single_row_far_out_is_accounted_for)
{
    table t = spread_rows(rng_normal);
    t.x[31414] = 600.0;
    t.y[31414] = 0.0;
    measure(&t);
    agrees(&t, true);
    table_free(&t);
}

static double amount(rng *r)
{
    return exp(2.5 * rng_normal(r));
}

TEST(a_column_with_long_tails_agrees_with_quadrature)
{
    table t = spread_rows(amount);
    measure(&t);
    agrees(&t, false);
    table_free(&t);
}

CHECK_MAIN
