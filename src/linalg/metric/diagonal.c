/* The diagonal metrics: none (A = I), diagonal (A = diag(H)^(-1/2)), and adaptive, which
 * learns. The first d numbers of the data of the latter two are the diagonal of A. */
#include "core/memory.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>
#include <string.h>

static sbps_status build_identity(metric *m, const double *hessian, sbps_error *err)
{
    (void)m;
    (void)hessian;
    (void)err;
    return SBPS_OK;
}

static void identity_map(const metric *m, const double *from, double *to)
{
    memcpy(to, from, m->d * sizeof *to);
}

const metric_kind metric_none = {
    .name = "none",
    .build = build_identity,
    .forward = identity_map,
    .transpose = identity_map,
    .precision = identity_map,
};

/* ---- a fixed diagonal ---- */

static void diagonal_map(const metric *m, const double *from, double *to)
{
    for (size_t j = 0; j < m->d; j++) to[j] = m->data[j] * from[j];
}

static void diagonal_precision(const metric *m, const double *x, double *y)
{
    for (size_t j = 0; j < m->d; j++) y[j] = x[j] / (m->data[j] * m->data[j]);
}

/* A_jj = H_jj^(-1/2). */
static sbps_status build_diagonal(metric *m, const double *hessian, sbps_error *err)
{
    m->data = new_doubles(m->d);
    if (!m->data) return fail_memory(err);
    for (size_t j = 0; j < m->d; j++) {
        double h = hessian[j * m->d + j];
        if (!(h > 0.0) || !isfinite(h))
            return fail(err, SBPS_NO_MODE, "the curvature along parameter %zu is %g", j + 1, h);
        m->data[j] = 1.0 / sqrt(h);
    }
    return SBPS_OK;
}

const metric_kind metric_diagonal = {
    .name = "diagonal",
    .build = build_diagonal,
    .forward = diagonal_map,
    .transpose = diagonal_map,
    .precision = diagonal_precision,
};

/* ---- a diagonal metric that learns from gradients ----
 *
 *   a_i  <- beta a_i + (1 - beta) g_i^2                                                    (1)
 *   A_ii  = r_i / mean(r),   r_i = 1 / (sqrt(a_i) + eps)                                   (2)
 *
 * so that the mean entry of A is 1 and time keeps its scale. It begins with a_i = H_ii, the
 * mean of g_i^2 where the posterior is normal and the gradient has no noise.
 *
 * Section 5 of Pakman, Gilboa, Carlson, Paninski (2017), where beta is the weight of the new
 * square and the mean multiplies. */

static size_t numbers(size_t d)
{
    return 2 * d; /* A_ii, a_i */
}

static void update_diagonal(metric *m, double eps) /* by (2) */
{
    double *diagonal = m->data, *square = m->data + m->d, sum = 0.0;
    for (size_t j = 0; j < m->d; j++) {
        diagonal[j] = 1.0 / (sqrt(square[j]) + eps);
        sum += diagonal[j];
    }
    for (size_t j = 0; j < m->d; j++) diagonal[j] *= (double)m->d / sum;
}

static void learn(metric *m, const double *gradient, double beta) /* by (1) */
{
    double *square = m->data + m->d;
    for (size_t j = 0; j < m->d; j++)
        square[j] += (1.0 - beta) * (gradient[j] * gradient[j] - square[j]);
}

/* Moves the averages a_i of `into` by a fraction towards those of `other`. */
static void blend(metric *into, const metric *other, double fraction)
{
    for (size_t j = into->d; j < 2 * into->d; j++)
        into->data[j] += fraction * (other->data[j] - into->data[j]);
}

/* Starts from a_j = H_jj with eps 0. */
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
    .learn = learn,
    .update = update_diagonal,
    .blend = blend,
};
