/* Momentum and preconditioners against known results.
 *
 *   sghmc   (w, v)' = M (w, v) + noise: the fixed point of P = M P M' + Q, iterated here
 *   msgnht  E w1 v = -E w1 v' = eta / 2 at the midpoints w1 by stationarity, hence its variance
 *   psgld   sgld with step h G where mini-batch noise keeps G still */
#include "sampler/discrete_fixture.h"

/* Stationary Var w of v' = (1 - alpha) v - eta l w + s xi, w' = w + v'. */
static double momentum_variance(double l, double eta, double alpha, double noise)
{
    double ww = 1.0 / l, wv = 0.0, vv = eta, keep = 1.0 - alpha, pull = eta * l;
    double s2 = 2.0 * alpha * eta + eta * eta * noise;
    for (int i = 0; i < 100000; i++) {
        double v2 = keep * keep * vv - 2.0 * keep * pull * wv + pull * pull * ww + s2;
        double w_v = keep * wv - pull * ww; /* Cov(w, v') */
        ww += 2.0 * w_v + v2;
        wv = w_v + v2;
        vv = v2;
    }
    return ww;
}

TEST(momentum_without_memory_is_langevin)
{
    CHECK_NEAR(momentum_variance(3.0, 0.1, 1.0, 5.0), langevin(3.0, 0.1, 5.0), TOL_SUM);
}

TEST(sghmc_has_the_variance_of_its_recursion)
{
    static const struct {
        size_t take;
        double step;
    } cases[] = {{ROWS, 0.5}, {ROWS, 0.05}, {40, 0.05}};
    double l = (double)ROWS + PRIOR;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        REQUIRE(open_chain(&c, &sampler_sghmc, 1, "none", cases[i].take, cases[i].step));
        burn_in(&c, 1000);
        advance(&c, 200000);
        double noise = batch_noise(&c, cases[i].take), eta = cases[i].step / (double)ROWS;
        check_stationary("sghmc", &c, 0, momentum_variance(l, eta, 0.1, noise), 0.0);
        close_chain(&c);
    }
}

/* Thermostats hold E v^2 at eta, and then the splitting has Var w = (cosh(alpha/2) - eta
 * l/4) / l, with gradient noise or without. At these steps noise makes sgld 20% and sghmc
 * 200% too wide. */
TEST(msgnht_absorbs_gradient_noise)
{
    static const struct {
        size_t columns, take;
        const char *metric;
        double step;
    } cases[] = {{1, ROWS, "none", 0.8},
                 {1, ROWS, "none", 0.02},
                 {1, 40, "none", 0.02},
                 {2, ROWS, "dense", 2.0},
                 {2, 40, "dense", 2.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        size_t d = cases[i].columns;
        REQUIRE(
            open_chain(&c, &sampler_msgnht, d, cases[i].metric, cases[i].take, cases[i].step));
        const double *h = c.m->hessian;
        double stiff = d == 1 ? h[0] : 1.0, eta = cases[i].step / (double)ROWS;
        burn_in(&c, 5000);
        advance(&c, 400000);
        for (size_t j = 0; j < d; j++) {
            double det = h[0] * h[3] - h[1] * h[1];
            double truth = d == 1 ? 1.0 / h[0] : (j ? h[0] : h[3]) / det;
            check_stationary("msgnht", &c, j, truth * (cosh(0.05) - 0.25 * eta * stiff), 0.01);
        }
        close_chain(&c);
    }
}

/* If mini-batch noise dominates, V hardly changes, and psgld is sgld with step h G. */
TEST(psgld_is_sgld_with_its_own_step)
{
    double l = (double)ROWS + PRIOR, step = 0.01, n = (double)ROWS;
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_psgld, 1, "none", 10, step));
    double noise = batch_noise(&c, 10), gain = 1.0 / (1e-4 + sqrt(noise + l) / n);
    c.s.kind->adapt(&c.s, true);
    burn_in(&c, 1000);
    advance(&c, 400000);
    check_stationary("psgld", &c, 0, langevin(l, step * gain / n, noise), 0.03);
    close_chain(&c);
}

/* Coordinates of different sizes take steps in proportion to their spread. */
TEST(psgld_weighs_coordinates_by_their_gradients)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_psgld, 3, "none", 40, NAN));
    c.s.kind->adapt(&c.s, true);
    advance(&c, 20000);
    const double *h = c.m->hessian, *g = c.s.extra + 3;
    for (size_t j = 1; j < 3; j++)
        CHECK_NEAR(log(g[j] / g[0]), 0.5 * log(h[0] / h[4 * j]), 0.4);
    close_chain(&c);
}

CHECK_MAIN
