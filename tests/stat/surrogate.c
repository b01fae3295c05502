/* Whole runs of surrogate against quadrature and trusted posteriors: it is exact, so no bias
 * is allowed for, and it evaluates few of the rows. */
#include "check.h"
#include "stat/quadrature.h"

static void check_exact(const sbps_result *r, double ess, double max_rows)
{
    double steps = r->info.proposals;
    CHECK(r->info.min_ess >= ess);
    CHECK(r->info.violations == 0.0 && r->info.bias_estimate == 0.0);
    printf("%.0f rows: %.1f a step, %.1f an effective sample\n", r->info.rows,
           r->info.rows_touched / steps, r->info.rows_touched / r->info.min_ess);
    CHECK(r->info.rows_touched / steps <= max_rows);
}

static void compare(const table *t, double ess, double max_rows, const char *settings)
{
    char all[512];
    known truth[2];
    integrate(t, truth);
    snprintf(all, sizeof all, "model=logistic sampler=surrogate seed=8 ess=%g %s", ess,
             settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    check_exact(r, ess, max_rows);
    for (size_t j = 0; j < 2; j++) check_moments(settings, r, j, truth[j], 0.0);
    sbps_result_destroy(r);
}

TEST(drawn_rows_agree_with_quadrature)
{
    table t = simulate(500, -0.5, 1.2);
    compare(&t, 50000.0, 50.0, "");
    compare(&t, 20000.0, 50.0, "storage=float");
    table_free(&t);
}

/* Where bounds would require more rows than there are, all of them are evaluated. */
TEST(few_rows_agree_with_quadrature)
{
    table t = simulate(15, -0.5, 1.2);
    compare(&t, 20000.0, 15.0, "");
    table_free(&t);
}

static void with_prior(const char *text)
{
    char setting[128];
    prior other;
    table t = simulate(200, -0.5, 1.2);
    if (prior_parse(text, &other, NULL) != SBPS_OK) exit(EXIT_FAILURE);
    t.other = &other;
    snprintf(setting, sizeof setting, "prior=%s prior-intercept=%s", text, text);
    compare(&t, 20000.0, 200.0, setting);
    table_free(&t);
}

TEST(any_prior_is_sampled_exactly)
{
    with_prior("laplace(0,0.3)");
    with_prior("cauchy(1,0.3)");
    with_prior("normal(1,0.2)");
}

CHECK_MAIN
