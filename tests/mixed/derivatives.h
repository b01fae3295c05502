/* Derivatives of a posterior with groups against differences. */
#ifndef TESTS_MIXED_DERIVATIVES_H
#define TESTS_MIXED_DERIVATIVES_H

#include "fixture.h"
#include "linalg/dense_matrix.h"

#define MAX_DIM ((size_t)128)

/* Gradient and Hessian at w agree with differences over `step` to `slack`; value and gradient
 * computed without the Hessian are the same. */
static void check_derivatives(const grouped *t, double *w, double step, double slack)
{
    size_t d = t->u->dim;
    double value, above, below, gradient[MAX_DIM], same[MAX_DIM], low[MAX_DIM], high[MAX_DIM],
        hessian[MAX_DIM * MAX_DIM];
    const expansion out = {&value, gradient, hessian};
    REQUIRE(posterior_expand(t->u, w, &out, NULL, NULL) == SBPS_OK);
    CHECK(posterior_gradient(t->u, w, &above, same, NULL) == SBPS_OK);
    CHECK_NEAR(above, value, 1e-9 * fabs(value));
    for (size_t j = 0; j < d; j++) {
        double here = w[j];
        CHECK_NEAR(same[j], gradient[j], 1e-8 * fmax(1.0, fabs(gradient[j])));
        w[j] = here - step;
        CHECK(posterior_gradient(t->u, w, &below, low, NULL) == SBPS_OK);
        w[j] = here + step;
        CHECK(posterior_gradient(t->u, w, &above, high, NULL) == SBPS_OK);
        w[j] = here;
        CHECK_NEAR((above - below) / (2.0 * step), gradient[j],
                   slack * fmax(1.0, fabs(gradient[j])));
        for (size_t i = 0; i < d; i++)
            CHECK_NEAR((high[i] - low[i]) / (2.0 * step), hessian[i * d + j],
                       slack * fmax(1.0, fabs(hessian[i * d + j])));
    }
}

/* Slopes of groups at w along a direction are the products of their gradients with it. */
__attribute__((unused)) static void check_slopes(const grouped *t, const double *w)
{
    const mixed *m = t->u->self;
    size_t d = t->u->dim, n = t->data->local_rows;
    double u[MAX_DIM], one = 1.0, *slope = new_doubles(n),
                       *scratch = new_doubles(t->u->model->rows.scratch(m, n));
    for (size_t j = 0; j < d; j++) u[j] = cos((double)j);
    t->u->model->rows.slope(m, rows_from(0, n), w, u, scratch, slope);
    for (size_t g = 0; g < n; g++) {
        double gradient[MAX_DIM] = {0.0};
        t->u->model->rows.gradient(m, rows_from(g, 1), w, &one, scratch, gradient);
        CHECK_NEAR(slope[g], dot(d, u, gradient), 1e-10 * fmax(1.0, fabs(slope[g])));
    }
    free(scratch);
    free(slope);
}

#endif
