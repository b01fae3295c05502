/* The low-rank plus diagonal metric, for many parameters. With D diagonal and the eigenpairs
 * (l, x) of D H D, pairs far from the others are corrected individually, and the others, of
 * mean c, are treated alike (the bulk):
 *
 *   A = D c^(-1/2) (1 + sum_k (m_k^(-1/2) - 1) x_k x_k'),    m_k = l_k / c                  (1)
 *   (A A')^-1 = c D^-1 (1 + sum_k (m_k - 1) x_k x_k') D^-1                                  (2)
 *
 * Then A'HA has the eigenvalue 1 along each x_k and l/c along the others, whose mean is 1:
 * u'Hu is 1 on average over velocities. A map takes 2 d r multiplications for r pairs, a
 * dense one d^2/2.
 *
 * Eigenvalues are sorted, so the bulk is a run of neighbours: the longest whose largest is
 * at most SPREAD times its smallest, which minimises r. Where r would exceed d/4 (a dense
 * map is then cheaper) and 8, the bulk is the 3/4 of all that spread least.
 *
 * D is diag(H)^(-1/2) or diag(H^-1)^(1/2), whichever leaves fewer pairs: the first where the
 * covariance is diagonal plus few factors (levels of many groups), the second where the
 * precision is, as when columns share factors. 300 columns: 10 pairs against 77 and 66
 * against 5. */
#include "core/decimal.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/metric/metric_kinds.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD    4.0         /* within a factor of 2 of their middle */
#define RANK_FREE ((size_t)8) /* number of pairs that is always allowed */

/* The arrays in metric.data, one after the other. */
typedef struct {
    double *counts;   /* 2: r, and the ratio of largest to smallest eigenvalue of the bulk */
    double *diagonal; /* d: D c^(-1/2) */
    double *weight;   /* r: m_k */
    double *vector;   /* r of d: x_k */
} lowrank_parts;

static lowrank_parts parts_of(double *data, size_t d, size_t rank)
{
    return (lowrank_parts){data, data + 2, data + 2 + d, data + 2 + d + rank};
}

static lowrank_parts view(const metric *m)
{
    return parts_of(m->data, m->d, (size_t)m->data[0]);
}

/* ---- set-up ---- */

typedef struct {
    size_t first, end; /* eigenvalues of the bulk */
    double ratio;      /* largest over smallest of them */
} eigen_bulk;

/* The run of `count` neighbours with the smallest ratio. */
static eigen_bulk narrowest(size_t d, const double *l, size_t count)
{
    eigen_bulk best = {.ratio = INFINITY};
    for (size_t i = 0; i + count <= d; i++) {
        double ratio = l[i + count - 1] / l[i];
        if (ratio < best.ratio) best = (eigen_bulk){i, i + count, ratio};
    }
    return best;
}

/* The bulk of eigenvalues l, see above. */
static eigen_bulk find_bulk(size_t d, const double *l)
{
    eigen_bulk longest = {.ratio = 1.0};
    for (size_t i = 0, j = 0; i < d; i++) {
        while (j < d && l[j] <= SPREAD * l[i]) j++;
        if (j - i > longest.end - longest.first) longest = (eigen_bulk){i, j, l[j - 1] / l[i]};
    }
    size_t rank_max = d / 4 > RANK_FREE ? d / 4 : RANK_FREE;
    size_t bulk_min = d > rank_max ? d - rank_max : 1;
    return longest.end - longest.first < bulk_min ? narrowest(d, l, bulk_min) : longest;
}

typedef struct {
    double *roots;   /* d: D */
    double *values;  /* d: eigenvalues of D H D, increasing */
    double *scaled;  /* d*d: D H D, overwritten by solve */
    double *vectors; /* d*d: eigenvectors, one per row */
} eigenpairs;

static sbps_status fail_definite(sbps_error *err)
{
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

/* Sets D = diag(H)^(-1/2); fails unless H is finite and positive definite. */
static sbps_status set_roots(size_t d, const double *hessian, const eigenpairs *p,
                             sbps_error *err)
{
    for (size_t j = 0; j < d; j++) {
        double h = hessian[j * d + j];
        if (!(h > 0.0) || !isfinite(h)) return fail_definite(err);
        p->roots[j] = 1.0 / sqrt(h);
    }
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(hessian[i])) return fail_definite(err);
    memcpy(p->vectors, hessian, d * d * sizeof *hessian);
    return cholesky(d, p->vectors) ? SBPS_OK : fail_definite(err);
}

/* Eigenpairs of D H D. The smallest eigenvalues are raised to what rounding allows to be
 * known. */
static sbps_status solve(size_t d, const double *hessian, const eigenpairs *p, sbps_error *err)
{
    lapack_int n = (lapack_int)d, found = 0, *support = calloc(2 * d, sizeof *support);
    if (!support) return fail_memory(err);
    for (size_t i = 0; i < d * d; i++)
        p->scaled[i] = hessian[i] * p->roots[i / d] * p->roots[i % d];
    openblas_set_num_threads(1); /* the same sums on every machine */
    lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'A', 'L', n, p->scaled, n, 0.0, 0.0,
                                     0, 0, 0.0, &found, p->values, p->vectors, n, support);
    free(support);
    if (info != 0 || found != n)
        return fail(err, SBPS_NO_MODE, "the Hessian at the mode has no eigenvectors");
    double smallest = 4.0 * DBL_EPSILON * (double)d * p->values[d - 1];
    for (size_t j = 0; j < d && p->values[j] < smallest; j++) p->values[j] = smallest;
    return SBPS_OK;
}

/* Changes D to diag(H^-1)^(1/2), by the eigenpairs under the previous D. */
static void scale_by_variances(size_t d, const eigenpairs *p)
{
    double *sum = p->scaled;
    memset(sum, 0, d * sizeof *sum);
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++)
            sum[j] += p->vectors[k * d + j] * p->vectors[k * d + j] / p->values[k];
    for (size_t j = 0; j < d; j++) p->roots[j] *= sqrt(sum[j]);
}

/* Stores (1) from the eigenpairs, replacing what m held. */
static sbps_status store_pairs(metric *m, const eigenpairs *from, eigen_bulk rest,
                               sbps_error *err)
{
    size_t d = m->d, at = 0, rank = d - (rest.end - rest.first);
    double c = 0.0;
    for (size_t k = rest.first; k < rest.end; k++) c += from->values[k] / (double)(d - rank);
    free(m->data);
    m->data = new_doubles(2 + d + rank + rank * d);
    if (!m->data) return fail_memory(err);
    lowrank_parts p = parts_of(m->data, d, rank);
    p.counts[0] = (double)rank;
    p.counts[1] = rest.ratio;
    for (size_t j = 0; j < d; j++) p.diagonal[j] = from->roots[j] / sqrt(c);
    for (size_t k = 0; k < d; k++) {
        if (k >= rest.first && k < rest.end) continue;
        p.weight[at] = from->values[k] / c;
        memcpy(p.vector + at++ * d, from->vectors + k * d, d * sizeof *from->vectors);
    }
    return SBPS_OK;
}

/* Stores (1) under the better of the two D. */
static sbps_status try_both(metric *m, const double *hessian, const eigenpairs *p,
                            sbps_error *err)
{
    sbps_status status = set_roots(m->d, hessian, p, err);
    if (status == SBPS_OK) status = solve(m->d, hessian, p, err);
    if (status != SBPS_OK) return status;
    eigen_bulk first = find_bulk(m->d, p->values);
    status = store_pairs(m, p, first, err);
    if (status != SBPS_OK || first.end - first.first == m->d) return status;
    scale_by_variances(m->d, p);
    if ((status = solve(m->d, hessian, p, err)) != SBPS_OK) return status;
    eigen_bulk second = find_bulk(m->d, p->values);
    size_t before = first.end - first.first, now = second.end - second.first;
    bool better = now > before || (now == before && second.ratio < first.ratio);
    return better ? store_pairs(m, p, second, err) : SBPS_OK;
}

static sbps_status build_lowrank(metric *m, const double *hessian, sbps_error *err)
{
    size_t d = m->d;
    eigenpairs p = {new_doubles(d), new_doubles(d), new_doubles(d * d), new_doubles(d * d)};
    sbps_status status = p.roots && p.values && p.scaled && p.vectors
                             ? try_both(m, hessian, &p, err)
                             : fail_memory(err);
    free(p.vectors);
    free(p.scaled);
    free(p.values);
    free(p.roots);
    return status;
}

/* ---- maps ---- */

/* y <- (1 + sum_k (m_k^power - 1) x_k x_k') y. The x_k are orthogonal, so that one after the
 * other equals all at once. */
static void correct(const metric *m, const lowrank_parts *p, double power, double *y)
{
    size_t rank = (size_t)p->counts[0];
    for (size_t k = 0; k < rank; k++) {
        const double *x = p->vector + k * m->d;
        double gain = power > 0.0 ? p->weight[k] : 1.0 / sqrt(p->weight[k]);
        m->k->axpy(m->d, (gain - 1.0) * m->k->dot(m->d, x, y), x, y);
    }
}

static void forward(const metric *m, const double *v, double *u)
{
    lowrank_parts p = view(m);
    memcpy(u, v, m->d * sizeof *u);
    correct(m, &p, -0.5, u);
    for (size_t j = 0; j < m->d; j++) u[j] *= p.diagonal[j];
}

static void lowrank_transpose(const metric *m, const double *g, double *h)
{
    lowrank_parts p = view(m);
    for (size_t j = 0; j < m->d; j++) h[j] = p.diagonal[j] * g[j];
    correct(m, &p, -0.5, h);
}

static void precision(const metric *m, const double *x, double *y)
{
    lowrank_parts p = view(m);
    for (size_t j = 0; j < m->d; j++) y[j] = x[j] / p.diagonal[j];
    correct(m, &p, 1.0, y);
    for (size_t j = 0; j < m->d; j++) y[j] /= p.diagonal[j];
}

static double map_cost(const metric *m)
{
    return (double)m->d * (1.0 + 2.0 * m->data[0]);
}

static void describe_rank(const metric *m, size_t size, char *text)
{
    decimal_print(text, size, "rank %.0f of %zu, the rest spread over a factor of %.3g",
                  m->data[0], m->d, m->data[1]);
}

const metric_kind metric_lowrank = {
    .name = "lowrank",
    .build = build_lowrank,
    .forward = forward,
    .transpose = lowrank_transpose,
    .precision = precision,
    .nearly_white = true,
    .cost = map_cost,
    .describe = describe_rank,
};
