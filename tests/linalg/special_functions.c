/* The remainders of log Gamma and its derivatives, against closed forms and recurrences. */
#include "linalg/special_functions.h"
#include "check.h"

#define EULER 0.57721566490153286061

static double digamma(double x)
{
    return log(x) - gamma_gap(x) / x;
}

static double trigamma(double x)
{
    return (x - trigamma_gap(x)) / (x * x);
}

TEST(values_are_those_of_closed_forms)
{
    const double sixth = M_PI * M_PI / 6.0;
    CHECK_NEAR(digamma(1.0), -EULER, TOL_SUM);
    CHECK_NEAR(digamma(0.5), -EULER - 2.0 * log(2.0), TOL_SUM);
    CHECK_NEAR(digamma(2.0), 1.0 - EULER, TOL_SUM);
    CHECK_NEAR(trigamma(1.0), sixth, TOL_SUM);
    CHECK_NEAR(trigamma(0.5), 3.0 * sixth, TOL_SUM);
    CHECK_NEAR(trigamma(2.0), sixth - 1.0, TOL_SUM);
}

/* psi(x + 1) = psi(x) + 1/x and psi'(x + 1) = psi'(x) - 1/x^2, on both sides of the point from
 * which the series is used. */
TEST(recurrences_hold)
{
    for (double x = 0.01; x < 40.0; x *= 1.07) {
        CHECK_NEAR(digamma(x + 1.0), digamma(x) + 1.0 / x, TOL_SUM);
        CHECK_NEAR(trigamma(x), trigamma(x + 1.0) + 1.0 / (x * x), TOL_SUM);
        double log_gamma = (x - 0.5) * log(x) - x + 0.5 * log(2.0 * M_PI) + gamma_rest(x);
        CHECK_NEAR(log_gamma, lgamma(x), TOL_SUM);
    }
}

TEST(both_ends_are_finite)
{
    CHECK(gamma_gap(1e-300) == 1.0 && trigamma_gap(1e-300) == -1.0);
    CHECK_NEAR(gamma_gap(1e15), 0.5, TOL_ROUND);
    CHECK_NEAR(trigamma_gap(1e15), -0.5, TOL_ROUND);
    CHECK_NEAR(gamma_rest(1e15), 1.0 / 12e15, TOL_ROUND);
    CHECK_NEAR(gamma_rest(1e-300), -0.5 * log(1e-300) - 0.5 * log(2.0 * M_PI), TOL_ROUND);
}

CHECK_MAIN
