/* Compares derivatives of a row with the central difference
 *
 *   (log p(w + h u) - log p(w - h u)) / 2h,   h = eps^(1/3),
 *
 * along random directions and, where these disagree, parameter by parameter. The tolerance is
 * far above the error of the difference: a wrong derivative is usually wrong by much more. */
#include "model/likelihood/agreement.h"
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/dense_matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_TRIED 5    /* checked */
#define AGREE      1e-3 /* relative */

/* Does `given` agree with the central difference of loglik along u? *difference receives the
 * latter; `at` has dim numbers of scratch. */
static bool agrees(const own_model *m, size_t i, const double *w, const double *u, double given,
                   double *at, double *difference)
{
    double h = cbrt(DBL_EPSILON), value[2];
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < m->dim; j++) at[j] = w[j] + (side ? h : -h) * u[j];
        value[side] = m->loglik(m->self, i, at);
    }
    *difference = (value[1] - value[0]) / (2.0 * h);
    double rounding = DBL_EPSILON * (fabs(value[0]) + fabs(value[1])) / h;
    double size = fmax(1.0, fmax(fabs(given), fabs(*difference)));
    return fabs(given - *difference) <= AGREE * size + 100.0 * rounding;
}

/* Fails for row i, whose gradient g is wrong, and names the first parameter in which it is. `u`
 * and `at` are scratch. */
static sbps_status fail_gradient(const own_model *m, size_t i, const double *w, const double *g,
                                 double *u, double *at, sbps_error *err)
{
    char name[81];
    double difference = 0.0;
    size_t j = 0;
    memset(u, 0, m->dim * sizeof *u);
    for (; j < m->dim; j++) {
        u[j] = 1.0;
        if (!agrees(m, i, w, u, g[j], at, &difference)) break;
        u[j] = 0.0;
    }
    if (j == m->dim)
        return fail(err, SBPS_BAD_FILE,
                    "%s: its gradient is not the derivative of its loglik: every parameter is "
                    "off by a little",
                    m->label);
    m->name(m->self, j, sizeof name, name);
    return fail(
        err, SBPS_BAD_FILE,
        "%s: its gradient is not the derivative of its loglik: for parameter %zu, '%s', "
        "the gradient is %g, but differences of loglik give %g",
        m->label, j, name, g[j], difference);
}

/* Gradient and slope of row i along u. `at` and `g` are scratch. */
static sbps_status check_row(const own_model *m, size_t i, const double *w, double *u,
                             double *at, double *g, sbps_error *err)
{
    double difference;
    m->gradient(m->self, i, w, g);
    if (!agrees(m, i, w, u, dot(m->dim, g, u), at, &difference))
        return fail_gradient(m, i, w, g, u, at, err);
    double slope = m->slope ? m->slope(m->self, i, w, u, g) : dot(m->dim, g, u);
    if (agrees(m, i, w, u, slope, at, &difference)) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE,
                "%s: its slope is not the derivative of its loglik: the slope is %g, but "
                "differences of loglik give %g",
                m->label, slope, difference);
}

/* Checks some rows at a random point near the start. `memory` has 4 dim numbers. */
static sbps_status check_derivatives(const own_model *m, double *memory, sbps_error *err)
{
    double *w = memory, *u = w + m->dim, *at = u + m->dim, *g = at + m->dim;
    rng random = rng_stream(1, 0, RNG_TEST);
    sbps_status status = SBPS_OK;
    m->start(m->self, w);
    for (size_t j = 0; j < m->dim; j++) w[j] += 0.1 * rng_normal(&random);
    for (size_t i = 0; status == SBPS_OK && i < m->rows && i < ROWS_TRIED; i++) {
        double value = m->loglik(m->self, i, w);
        if (!isfinite(value))
            return fail(err, SBPS_BAD_DATA,
                        "%s: its loglik is %g near where the search for the mode begins",
                        m->label, value);
        rng_sphere(&random, m->dim, u);
        status = check_row(m, i, w, u, at, g, err);
    }
    return status;
}

sbps_status agreement_check(const own_model *m, sbps_error *err)
{
    double *memory = new_doubles(4 * m->dim);
    if (!memory) return fail_memory(err);
    sbps_status status = check_derivatives(m, memory, err);
    free(memory);
    return status;
}
