/* Samplers in discrete time: SGLD against the closed form of its variance, the step that is
 * chosen, random-walk Metropolis, and steps that are too large.
 *
 *   sgld    Var w = (1 + eta V / 2) / (l (1 - eta l / 2));
 *           in many dimensions without noise Cov w = (H - eta H^2 / 2)^-1 */
#include "sampler/discrete_fixture.h"

/* ---- sgld ---- */

TEST(sgld_has_the_variance_of_its_recursion)
{
    static const struct {
        size_t take;
        double step;
        bool cv;
    } cases[] = {{ROWS, 0.8, false}, {ROWS, 0.1, false}, {40, 0.1, false}, {40, 0.5, true}};
    double l = (double)ROWS + PRIOR;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        control reference;
        if (cases[i].cv) c.cv = &reference; /* requests one */
        REQUIRE(open_chain(&c, &sampler_sgld, 1, "none", cases[i].take, cases[i].step));
        CHECK_NEAR(c.m->hessian[0], l, TOL_SUM);
        burn_in(&c, 1000);
        advance(&c, 100000);
        /* rows of one curvature: a control variate takes out all their noise */
        double noise = cases[i].cv ? 0.0 : batch_noise(&c, cases[i].take);
        double eta = cases[i].step / (double)ROWS;
        check_stationary("sgld", &c, 0, langevin(l, eta, noise), 0.0);
        close_chain(&c);
    }
}

/* Cov w = (H - eta H^2/2)^-1, or H^-1 / (1 - eta/2) in the dense metric. */
TEST(sgld_in_two_dimensions_and_both_metrics)
{
    static const struct {
        const char *metric;
        double step;
    } cases[] = {{"none", 0.5}, {"dense", 100.0}};
    for (size_t i = 0; i < 2; i++) {
        chain c = {0};
        REQUIRE(open_chain(&c, &sampler_sgld, 2, cases[i].metric, ROWS, cases[i].step));
        const double *h = c.m->hessian;
        double eta = cases[i].step / (double)ROWS, b[3];
        double square[3] = {h[0] * h[0] + h[1] * h[1], h[1] * (h[0] + h[3]),
                            h[1] * h[1] + h[3] * h[3]};
        double of[3] = {h[0], h[1], h[3]};
        for (size_t k = 0; k < 3; k++)
            b[k] = i ? (1.0 - 0.5 * eta) * of[k] : of[k] - 0.5 * eta * square[k];
        double det = b[0] * b[2] - b[1] * b[1];
        burn_in(&c, 2000);
        advance(&c, 300000);
        check_stationary(cases[i].metric, &c, 0, b[2] / det, 0.0);
        check_stationary(cases[i].metric, &c, 1, b[0] / det, 0.0);
        close_chain(&c);
    }
}

TEST(steps_decrease_with_the_decay)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_sgld, 1, "none", ROWS, 0.5));
    discrete_state *state = c.s.state;
    CHECK_NEAR(discrete_eta(&c.s, state), 0.5 / (double)ROWS, TOL_ROUND);
    burn_in(&c, 99);
    CHECK_NEAR(discrete_eta(&c.s, state), 0.5 / (double)ROWS, TOL_ROUND);
    c.s.settings->step_decay = 0.5;
    CHECK_NEAR(discrete_eta(&c.s, state), 0.05 / (double)ROWS, TOL_ROUND);
    close_chain(&c);
}

/* ---- the step that is chosen ---- */

static double largest_eigenvalue(const double *h)
{
    double mean = 0.5 * (h[0] + h[3]), half = 0.5 * (h[0] - h[3]);
    return mean + sqrt(half * half + h[1] * h[1]);
}

TEST(chosen_step_is_a_tenth_of_the_stiffest_with_its_noise)
{
    double n = (double)ROWS, m = 40.0;
    for (int i = 0; i < 5; i++) {
        chain c = {0};
        control reference;
        if (i == 3) c.cv = &reference;
        REQUIRE(open_chain(&c, i == 4 ? &sampler_sghmc : &sampler_sgld, 2,
                           i == 2 ? "dense" : "none", i ? 40 : ROWS, NAN));
        double l = largest_eigenvalue(c.m->hessian);
        double expected[] = {n / l, n / (l * n / m), n / (n / m),
                             n / (l * (1.0 + 2.0 / m * (1.0 - m / n))),
                             n / (l * (1.0 + 10.0 * (n / m - 1.0)))};
        CHECK_NEAR(c.s.settings->step_size, 0.1 * expected[i], 1e-3);
        close_chain(&c);
    }
}

/* ---- mh ---- */

TEST(mh_is_exact_and_accepts_as_often_as_it_should)
{
    static const char *const metrics[] = {"none", "dense"};
    for (size_t d = 1; d <= 2; d++)
        for (size_t i = 0; i < 2; i++) {
            chain c = {0};
            REQUIRE(open_chain(&c, &sampler_mh, d, metrics[i], ROWS, NAN));
            const double *h = c.m->hessian;
            c.s.kind->adapt(&c.s, true);
            burn_in(&c, 5000);
            c.s.kind->adapt(&c.s, false);
            double rate = advance(&c, d == 1 ? 60000 : 200000);
            CHECK_NEAR(rate, 0.234 + 0.206 / (double)d, 0.05);
            for (size_t j = 0; j < d; j++) {
                double det = h[0] * h[3] - h[1] * h[1];
                check_stationary("mh", &c, j, d == 1 ? 1.0 / h[0] : (j ? h[0] : h[3]) / det,
                                 0.0);
            }
            close_chain(&c);
        }
}

TEST(mh_keeps_a_given_scale)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_mh, 1, "dense", ROWS, 1e-3)); /* in posterior sds */
    c.s.kind->adapt(&c.s, true);
    CHECK(advance(&c, 5000) > 0.99);
    segment s;
    c.s.kind->step(&c.s, &s);
    CHECK(fabs(s.p[0] - c.s.p_next[0]) < 6e-3 / sqrt((double)ROWS));
    CHECK(s.end->rows == ROWS && s.end->proposals == 1);
    close_chain(&c);
}

/* ---- too large a step ---- */

TEST(a_step_that_is_too_large_fails_and_stays_finite)
{
    const sampler_kind *const kinds[] = {&sampler_sgld, &sampler_psgld, &sampler_sghmc,
                                         &sampler_msgnht};
    for (size_t k = 0; k < 4; k++) {
        chain c = {0};
        size_t failed = 0;
        REQUIRE(open_chain(&c, kinds[k], 2, "none", ROWS, 1e6));
        for (size_t i = 0; i < 3000; i++) {
            segment s;
            c.s.kind->step(&c.s, &s);
            failed += s.end->failed;
            CHECK(isfinite(s.p[0]) && isfinite(s.p[1]));
            CHECK(isfinite(c.s.p_next[0]) && isfinite(c.s.p_next[1]));
        }
        if (kinds[k] != &sampler_psgld) CHECK(failed > 0); /* it shortens its own steps */
        close_chain(&c);
    }
}

CHECK_MAIN
