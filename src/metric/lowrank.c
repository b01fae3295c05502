/* Low rank plus diagonal, for many parameters. With D = diag(H)^(-1/2) and the eigenpairs (l, x) of
 * D H D, those that lie far from the rest are corrected one by one and the rest, of mean c, alike:
 *
 *   A = D c^(-1/2) (1 + sum_k (m_k^(-1/2) - 1) x_k x_k'),    m_k = l_k / c                    (1)
 *   (A A')^-1 = c D^-1 (1 + sum_k (m_k - 1) x_k x_k') D^-1                                    (2)
 *
 * Then A'HA has the eigenvalue 1 along each x_k and l/c along the others, whose mean is 1: u'Hu is 1
 * on average over velocities. A map takes 2 d r multiplications for r pairs, a dense one d^2/2.
 * Eigenvalues are sorted, so those left alike are a run of neighbours: the longest whose largest
 * is at most SPREAD times its least, which makes r the smallest; where r would be more than d/4 (a
 * dense map is then cheaper) the 3/4 of all that spread least. */
#include "base/cholesky.h"
#include "base/memory.h"
#include "metric/kinds.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD 4.0 /* within a factor of 2 of their middle */

/* What lies in metric.data, one after the other. */
typedef struct {
    double *counts;   /* 2: r, and the ratio of largest to least among the others */
    double *diagonal; /* d: D c^(-1/2) */
    double *weight;   /* r: m_k */
    double *vector;   /* r of d: x_k */
} parts;

static parts parts_of(double *data, size_t d, size_t rank)
{
    return (parts){data, data + 2, data + 2 + d, data + 2 + d + rank};
}

static parts view(const metric *m)
{
    return parts_of(m->data, m->d, (size_t)m->data[0]);
}

/* ---- set-up ---- */

typedef struct {
    size_t first, end; /* eigenvalues left alike */
    double ratio;      /* largest over least of them */
} band;

/* The run of `count` neighbours that spreads least. */
static band narrowest(size_t d, const double *l, size_t count)
{
    band best = {.ratio = INFINITY};
    for (size_t i = 0; i + count <= d; i++) {
        double ratio = l[i + count - 1] / l[i];
        if (ratio < best.ratio) best = (band){i, i + count, ratio};
    }
    return best;
}

static band choose(size_t d, const double *l)
{
    band longest = {.ratio = 1.0};
    for (size_t i = 0, j = 0; i < d; i++) {
        while (j < d && l[j] <= SPREAD * l[i]) j++;
        if (j - i > longest.end - longest.first) longest = (band){i, j, l[j - 1] / l[i]};
    }
    size_t least = d - d / 4;
    return longest.end - longest.first < least ? narrowest(d, l, least) : longest;
}

/* D H D into `scaled`, D into `roots`; false where H is not positive definite. `l` is scratch. */
static bool scale(size_t d, const double *hessian, double *roots, double *scaled, double *l)
{
    for (size_t j = 0; j < d; j++) {
        double h = hessian[j * d + j];
        if (!(h > 0.0) || !isfinite(h)) return false;
        roots[j] = 1.0 / sqrt(h);
    }
    for (size_t i = 0; i < d * d; i++) {
        scaled[i] = hessian[i] * roots[i / d] * roots[i % d];
        if (!isfinite(scaled[i])) return false;
    }
    memcpy(l, scaled, d * d * sizeof *l);
    return cholesky(d, l);
}

/* Eigenvalues in increasing order and eigenvectors, one a row. The smallest are no better known than
 * rounding allows. */
static bool solve(size_t d, double *scaled, double *values, double *vectors)
{
    lapack_int n = (lapack_int)d, found = 0, *support = calloc(2 * d, sizeof *support);
    if (!support) return false;
    openblas_set_num_threads(1); /* the same sums on every machine size */
    lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'A', 'L', n, scaled, n, 0.0, 0.0, 0,
                                     0, 0.0, &found, values, vectors, n, support);
    free(support);
    if (info != 0 || found != n) return false;
    double least = 4.0 * DBL_EPSILON * (double)d * values[d - 1];
    for (size_t j = 0; j < d && values[j] < least; j++) values[j] = least;
    return true;
}

/* (1) from the eigenpairs. */
static sbps_status keep(metric *m, const double *roots, const double *values,
                        const double *vectors, sbps_error *err)
{
    size_t d = m->d, at = 0;
    band rest = choose(d, values);
    size_t rank = d - (rest.end - rest.first);
    double c = 0.0;
    for (size_t k = rest.first; k < rest.end; k++) c += values[k] / (double)(d - rank);
    m->data = new_doubles(2 + d + rank + rank * d);
    if (!m->data) return fail_memory(err);
    parts p = parts_of(m->data, d, rank);
    p.counts[0] = (double)rank;
    p.counts[1] = rest.ratio;
    for (size_t j = 0; j < d; j++) p.diagonal[j] = roots[j] / sqrt(c);
    for (size_t k = 0; k < d; k++) {
        if (k >= rest.first && k < rest.end) continue;
        p.weight[at] = values[k] / c;
        memcpy(p.vector + at++ * d, vectors + k * d, d * sizeof *vectors);
    }
    return SBPS_OK;
}

static sbps_status build(metric *m, const double *hessian, sbps_error *err)
{
    size_t d = m->d;
    double *roots = new_doubles(2 * d), *values = roots ? roots + d : NULL;
    double *scaled = new_doubles(d * d), *vectors = new_doubles(d * d);
    sbps_status status = SBPS_OK;
    if (!roots || !scaled || !vectors)
        status = fail_memory(err);
    else if (!scale(d, hessian, roots, scaled, vectors))
        status = fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
    else if (!solve(d, scaled, values, vectors))
        status =
            fail(err, SBPS_NO_MODE, "no eigenvectors of the Hessian at the mode were found");
    else
        status = keep(m, roots, values, vectors, err);
    free(vectors);
    free(scaled);
    free(roots);
    return status;
}

/* ---- maps ---- */

/* y <- (1 + sum_k (m_k^power - 1) x_k x_k') y. The x_k are orthogonal to each other, so that one after
 * the other is all at once. */
static void correct(const metric *m, const parts *p, double power, double *y)
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
    parts p = view(m);
    memcpy(u, v, m->d * sizeof *u);
    correct(m, &p, -0.5, u);
    for (size_t j = 0; j < m->d; j++) u[j] *= p.diagonal[j];
}

static void transpose(const metric *m, const double *g, double *h)
{
    parts p = view(m);
    for (size_t j = 0; j < m->d; j++) h[j] = p.diagonal[j] * g[j];
    correct(m, &p, -0.5, h);
}

static void precision(const metric *m, const double *x, double *y)
{
    parts p = view(m);
    for (size_t j = 0; j < m->d; j++) y[j] = x[j] / p.diagonal[j];
    correct(m, &p, 1.0, y);
    for (size_t j = 0; j < m->d; j++) y[j] /= p.diagonal[j];
}

static void describe(const metric *m, size_t size, char *text)
{
    snprintf(text, size, "rank %.0f of %zu, the rest spread over a factor of %.3g", m->data[0],
             m->d, m->data[1]);
}

const metric_kind metric_lowrank = {
    .name = "lowrank",
    .build = build,
    .forward = forward,
    .transpose = transpose,
    .precision = precision,
    .nearly_white = true,
    .describe = describe,
};
