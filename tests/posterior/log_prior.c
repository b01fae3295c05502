/* The priors' fraction of a variance is its derivative by the width of all priors. */
#include "posterior/full/log_prior.h"
#include "linalg/cholesky.h"
#include "minibatch/fixture.h"

#define ROWS  ((size_t)40)
#define WIDER 1e-4 /* of every variance */

/* Variances at p by the inverse Hessian, with priors of this width; also the priors'
 * fractions if requested. */
static void variances(double sd, double *variance, double *fraction)
{
    char weights[64];
    double hessian[DIM_MAX * DIM_MAX], x[DIM_MAX], y[DIM_MAX];
    snprintf(weights, sizeof weights, "normal(0,%.17g)", sd);
    table t =
        table_make(model_find("logistic"),
                   (table_spec){.n = ROWS, .columns = 3, .weights = weights, .sigma = "flat"});
    size_t d = t.u->dim;
    CHECK(posterior_hessian(t.u, t.p, hessian, NULL) == SBPS_OK);
    CHECK(cholesky(d, hessian));
    for (size_t j = 0; j < d; j++) {
        memset(x, 0, sizeof x);
        x[j] = 1.0;
        cholesky_solve(d, hessian, x);
        variance[j] = x[j];
        if (fraction) fraction[j] = log_prior_fraction(t.u, t.p, hessian, j, x, y);
    }
    table_close(&t);
}

TEST(the_fraction_is_the_derivative_by_the_width_of_the_priors)
{
    double sd = 0.7, before[DIM_MAX], after[DIM_MAX], fraction[DIM_MAX];
    variances(sd, before, fraction);
    variances(sd * sqrt(1.0 + WIDER), after, NULL);
    for (size_t j = 0; j < 3; j++) {
        CHECK_NEAR(log(after[j] / before[j]) / log1p(WIDER), fraction[j], 1e-3);
        CHECK(fraction[j] > 0.01 && fraction[j] < 1.0);
    }
}

TEST(the_fraction_is_1_for_narrow_and_0_for_wide_priors)
{
    double variance[DIM_MAX], fraction[DIM_MAX];
    variances(1e-3, variance, fraction);
    for (size_t j = 0; j < 3; j++) CHECK(fraction[j] > 0.999);
    variances(1e3, variance, fraction);
    for (size_t j = 0; j < 3; j++) CHECK(fraction[j] < 1e-4);
}

CHECK_MAIN
