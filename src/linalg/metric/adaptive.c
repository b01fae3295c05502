/* A diagonal metric that learns from gradients.
 *
 *   a_i  <- beta a_i + (1 - beta) g_i^2                                                    (1)
 *   A_ii  = r_i / mean(r),   r_i = 1 / (sqrt(a_i) + eps)                                   (2)
 *
 * so that the mean entry of A is 1 and time keeps its scale. It begins with a_i = H_ii, which is
 * what g_i^2 is on average when the posterior is normal and the gradient has no noise.
 *
 * Section 5 of Pakman, Gilboa, Carlson, Paninski (2017); there beta weighs the new square and the
 * mean multiplies. */
#include "core/memory.h"
#include "linalg/metric/diagonal_maps.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>

static size_t numbers(size_t d)
{
    return 2 * d; /* A_ii, a_i */
}

static void update_diagonal(metric *m, double eps) /* (2) */
{
    double *diagonal = m->data, *square = m->data + m->d, sum = 0.0;
    for (size_t j = 0; j < m->d; j++) {
        diagonal[j] = 1.0 / (sqrt(square[j]) + eps);
        sum += diagonal[j];
    }
    for (size_t j = 0; j < m->d; j++) diagonal[j] *= (double)m->d / sum;
}

static void see(metric *m, const double *gradient, double beta) /* (1) */
{
    double *square = m->data + m->d;
    for (size_t j = 0; j < m->d; j++)
        square[j] += (1.0 - beta) * (gradient[j] * gradient[j] - square[j]);
}

static void blend(metric *into, const metric *other, double fraction)
{
    for (size_t j = into->d; j < 2 * into->d; j++)
        into->data[j] += fraction * (other->data[j] - into->data[j]);
}

static sbps_status build_adaptive(metric *m, const double *hessian, sbps_error *err)
{
    m->data = new_doubles(numbers(m->d));
    if (!m->data) return fail_memory(err);
    for (size_t j = 0; j < m->d; j++) {
        double h = hessian[j * m->d + j];
        if (!(h > 0.0) || !isfinite(h))
            return fail(err, SBPS_NO_MODE, "the curvature along parameter %zu is %g", j + 1, h);
        m->data[m->d + j] = h;
    }
    update_diagonal(m, 0.0);
    return SBPS_OK;
}

const metric_kind metric_adaptive = {
    .name = "adaptive",
    .build = build_adaptive,
    .forward = diagonal_map,
    .transpose = diagonal_map,
    .precision = diagonal_precision,
    .numbers = numbers,
    .see = see,
    .update = update_diagonal,
    .blend = blend,
};
