/* The dense metric: A = L^(-T) with H = L L', so that A'HA = I and the posterior is white in
 * z where it is Gaussian. A is upper triangular and stored completely, row-major, followed
 * by (A A')^-1 = H and by A in column order: both maps then add multiples of contiguous
 * numbers, which vectorises. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* out = L^(-T): column j of L^(-1) becomes row j. */
static void invert_transposed(size_t d, const double *l, double *out)
{
    for (size_t j = 0; j < d; j++) {
        double *row = out + j * d; /* row[i] = (L^-1)_ij */
        for (size_t i = 0; i < j; i++) row[i] = 0.0;
        row[j] = 1.0 / l[j * d + j];
        for (size_t i = j + 1; i < d; i++) {
            double s = 0.0;
            for (size_t k = j; k < i; k++) s -= l[i * d + k] * row[k];
            row[i] = s / l[i * d + i];
        }
    }
}

/* L by Cholesky, its inverse, and the copies that the maps use. */
static sbps_status build_dense(metric *m, const double *hessian, sbps_error *err)
{
    size_t d = m->d;
    double *l = new_doubles(d * d);
    m->data = new_doubles(3 * d * d);
    sbps_status status = SBPS_OK;
    if (!l || !m->data) {
        status = fail_memory(err);
        goto done;
    }
    memcpy(l, hessian, d * d * sizeof *l);
    bool definite = cholesky(d, l);
    for (size_t j = 0; j < d; j++) definite = definite && isfinite(l[j * d + j]);
    if (!definite) {
        status = fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
        goto done;
    }
    invert_transposed(d, l, m->data);
    memcpy(m->data + d * d, hessian, d * d * sizeof *hessian);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) m->data[2 * d * d + j * d + i] = m->data[i * d + j];
done:
    free(l);
    return status;
}

/* out[from..to) += f[0] m[0..] + ... over `count` rows of m, in this order. Four at a time:
 * out is then loaded and stored a quarter as often. */
static void add_scaled_rows(size_t d, size_t count, size_t from, size_t to,
                            const double *restrict m, const double *restrict f,
                            double *restrict out)
{
    if (count == 4)
        for (size_t i = from; i < to; i++)
            out[i] = out[i] + f[0] * m[i] + f[1] * m[d + i] + f[2] * m[2 * d + i] +
                     f[3] * m[3 * d + i];
    else
        for (size_t k = 0; k < count; k++)
            for (size_t i = from; i < to; i++) out[i] += f[k] * m[k * d + i];
}

static size_t at_most_four(size_t left)
{
    return left < 4 ? left : 4;
}

static void forward(const metric *m, const double *v, double *u)
{
    size_t d = m->d;
    const double *by_columns = m->data + 2 * d * d;
    memset(u, 0, d * sizeof *u);
    for (size_t j = 0, n; j < d; j += n) {
        n = at_most_four(d - j);
        add_scaled_rows(d, n, 0, j + n, by_columns + j * d, v + j, u);
    }
}

static void dense_transpose(const metric *m, const double *g, double *h)
{
    size_t d = m->d;
    memset(h, 0, d * sizeof *h);
    for (size_t i = 0, n; i < d; i += n) {
        n = at_most_four(d - i);
        add_scaled_rows(d, n, i, d, m->data + i * d, g + i, h);
    }
}

static void precision(const metric *m, const double *x, double *y)
{
    apply_matrix(m->d, m->data + m->d * m->d, x, y);
}

static double dense_map_cost(const metric *m)
{
    return 0.5 * (double)m->d * (double)m->d;
}

const metric_kind metric_dense = {
    .name = "dense",
    .build = build_dense,
    .forward = forward,
    .transpose = dense_transpose,
    .precision = precision,
    .white = true,
    .cost = dense_map_cost,
};
