/* The metric of low rank plus a core, for so many parameters that no matrix of them is
 * formed: the Hessian is known by its products with vectors. A few coordinates, the core,
 * have their block of it stored, C = L L'; each of the others has curvature 1, or nearly.
 * With K = L'^-1 on the core and 1 elsewhere, K'HK has ones on its diagonal. Eigenpairs (l,
 * x) far from the others are corrected individually; the others, of mean c, are treated
 * alike:
 *
 *   A = K c^(-1/2) (1 + sum_k (m_k^(-1/2) - 1) x_k x_k'),    m_k = l_k / c                  (1)
 *
 * They are those of Lanczos's tridiagonal matrix that have converged, with its vectors kept
 * orthogonal. Every pair makes the maps more expensive; the number of pairs from either end
 * minimises
 *
 *   (cost of a gradient + cost of r pairs) sqrt(largest / smallest of the others)           (2)
 *
 * which is proportional to the cost of a trajectory of leapfrogs.
 *
 * Lanczos (1950), Journal of Research of the National Bureau of Standards 45, 255-282; Paige
 * (1972), J. Inst. Maths Applics 10, 373-381. */
#include "core/decimal.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/metric/metric_kinds.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONVERGED  0.05 /* residual of a converged pair, relative to its value */
#define PAIR_COST  12.0 /* multiplications of both maps per pair and coordinate */
#define FLOOR      1e-6
#define SEED       7
#define EXHAUSTED  1e-8
#define PIVOT_MIN  1e-6 /* of a block that finite differences resolve */
#define PASSES_MAX 4

/* The arrays in metric.data, one after the other. */
typedef struct {
    double *counts; /* 3: core, rank, c */
    double *core;   /* its coordinates */
    double *factor; /* core * core: L */
    double *weight; /* rank: m_k */
    double *vector; /* rank of d: x_k */
} products_parts;

static products_parts parts_of(double *data, size_t core, size_t rank)
{
    double *factor = data + 3 + core;
    return (products_parts){data, data + 3, factor, factor + core * core,
                            factor + core * core + rank};
}

static products_parts view(const metric *m)
{
    return parts_of(m->data, (size_t)m->data[0], (size_t)m->data[1]);
}

/* ---- maps ---- */

static double *core_element(const products_parts *p, double *x, size_t i)
{
    return x + (size_t)p->core[i];
}

/* x <- L^-1 x, or with `transposed` L'^-1 x, on the core. */
static void solve_core(const products_parts *p, bool transposed, double *x)
{
    size_t n = (size_t)p->counts[0];
    for (size_t k = 0; k < n; k++) {
        size_t i = transposed ? n - 1 - k : k;
        double sum = *core_element(p, x, i);
        for (size_t j = transposed ? i + 1 : 0; j < (transposed ? n : i); j++)
            sum -= p->factor[transposed ? j * n + i : i * n + j] * *core_element(p, x, j);
        *core_element(p, x, i) = sum / p->factor[i * n + i];
    }
}

/* x <- L x, or with `transposed` L'x, on the core. */
static void multiply_core(const products_parts *p, bool transposed, double *x)
{
    size_t n = (size_t)p->counts[0];
    for (size_t k = 0; k < n; k++) {
        size_t i = transposed ? k : n - 1 - k;
        double sum = 0.0;
        for (size_t j = transposed ? i : 0; j < (transposed ? n : i + 1); j++)
            sum += p->factor[transposed ? j * n + i : i * n + j] * *core_element(p, x, j);
        *core_element(p, x, i) = sum;
    }
}

/* y <- gain (1 + sum_k (m_k^power - 1) x_k x_k') y, power -1/2, or 1 with `inverse`. */
static void correct(const metric *m, const products_parts *p, bool inverse, double gain,
                    double *y)
{
    size_t rank = (size_t)p->counts[1];
    for (size_t k = 0; k < rank; k++) {
        const double *x = p->vector + k * m->d;
        double factor = inverse ? p->weight[k] : 1.0 / sqrt(p->weight[k]);
        m->k->axpy(m->d, (factor - 1.0) * m->k->dot(m->d, x, y), x, y);
    }
    for (size_t j = 0; j < m->d; j++) y[j] *= gain;
}

static void forward(const metric *m, const double *v, double *u)
{
    products_parts p = view(m);
    memcpy(u, v, m->d * sizeof *u);
    correct(m, &p, false, 1.0 / sqrt(p.counts[2]), u);
    solve_core(&p, true, u);
}

static void products_transpose(const metric *m, const double *g, double *h)
{
    products_parts p = view(m);
    memcpy(h, g, m->d * sizeof *h);
    solve_core(&p, false, h);
    correct(m, &p, false, 1.0 / sqrt(p.counts[2]), h);
}

static void precision(const metric *m, const double *x, double *y)
{
    products_parts p = view(m);
    memcpy(y, x, m->d * sizeof *y);
    multiply_core(&p, true, y);
    correct(m, &p, true, p.counts[2], y);
    multiply_core(&p, false, y);
}

static double products_map_cost(const metric *m)
{
    return (double)m->d * (1.0 + 2.0 * m->data[1]) + m->data[0] * m->data[0];
}

static void describe_core(const metric *m, size_t size, char *text)
{
    decimal_print(text, size, "a core of %.0f, rank %.0f of %zu, no matrix", m->data[0],
                  m->data[1], m->d);
}

static const metric_kind metric_products = {
    .name = "lowrank",
    .forward = forward,
    .transpose = products_transpose,
    .precision = precision,
    .nearly_white = true,
    .cost = products_map_cost,
    .describe = describe_core,
};

/* ---- set-up ---- */

/* The core's block of the Hessian in coordinates x = L'^-1 e of the current factor. */
static sbps_status core_block(const metric *m, metric_source h, double *block, sbps_error *err)
{
    size_t d = m->d;
    products_parts p = view(m);
    size_t n = (size_t)p.counts[0];
    double *unit = new_doubles(2 * d), *column = unit + d;
    sbps_status status = unit ? SBPS_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == SBPS_OK; i++) {
        for (size_t j = 0; j < n; j++) *core_element(&p, unit, j) = i == j ? 1.0 : 0.0;
        solve_core(&p, true, unit);
        status = h.product(h.self, unit, column, err);
        solve_core(&p, false, column);
        for (size_t j = 0; j < n; j++) block[i * n + j] = *core_element(&p, column, j);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            block[i * n + j] = 0.5 * (block[i * n + j] + block[j * n + i]);
    free(unit);
    return status;
}

/* Replaces each eigenvalue l of the block's correlations by |l|, at least PIVOT_MIN of the
 * largest. */
static sbps_status make_definite(size_t n, double *block, sbps_error *err)
{
    double *vectors = new_doubles(n * n + 2 * n), *values = vectors + n * n, *root = values + n;
    if (!vectors) return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        double size = sqrt(fabs(block[i * n + i]));
        root[i] = size > 0.0 && isfinite(size) ? size : 1.0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double value = block[i * n + j] / (root[i] * root[j]);
            vectors[j * n + i] = isfinite(value) ? value : i == j ? 1.0 : 0.0;
        }
    lapack_int size = (lapack_int)n,
               info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', size, vectors, size, values);
    double largest = 0.0;
    for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(values[k]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double total = 0.0;
            for (size_t k = 0; k < n; k++)
                total += fmax(fabs(values[k]), PIVOT_MIN * largest) * vectors[k * n + i] *
                         vectors[k * n + j];
            block[i * n + j] = root[i] * root[j] * total;
        }
    free(vectors);
    return info == 0 ? SBPS_OK
                     : fail(err, SBPS_NO_MODE, "the Hessian at the mode has no eigenvectors");
}

/* Smallest pivot of a factor, relative to the diagonal of the matrix. */
static double smallest_pivot(size_t n, const double *factor)
{
    double smallest = 1.0;
    for (size_t i = 0; i < n; i++) {
        double whole = 0.0, pivot = factor[i * n + i] * factor[i * n + i];
        for (size_t j = 0; j <= i; j++) whole += factor[i * n + j] * factor[i * n + j];
        smallest = fmin(smallest, pivot / whole);
    }
    return smallest;
}

/* L <- L times the lower triangle `right`. */
static void multiply_factor(size_t n, double *factor, const double *right)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double total = 0.0;
            for (size_t k = j; k <= i; k++) total += factor[i * n + k] * right[k * n + j];
            factor[i * n + j] = total;
        }
}

/* One pass: multiplies the factor by that of the block in its coordinates; *sound: no
 * further pass is needed. */
static sbps_status refine_core(metric *m, metric_source h, bool *sound, sbps_error *err)
{
    products_parts p = view(m);
    size_t n = (size_t)p.counts[0];
    double *block = new_doubles(2 * n * n), *factor = block + n * n;
    if (!block) return fail_memory(err);
    sbps_status status = core_block(m, h, block, err);
    memcpy(factor, block, n * n * sizeof *block);
    bool definite = status == SBPS_OK && cholesky(n, factor);
    if (status == SBPS_OK && !definite) {
        memcpy(factor, block, n * n * sizeof *block);
        status = make_definite(n, factor, err);
        if (status == SBPS_OK && !cholesky(n, factor))
            status = fail(err, SBPS_NO_MODE, "the Hessian at the mode has no Cholesky factor");
    }
    *sound = definite && smallest_pivot(n, factor) > PIVOT_MIN;
    if (status == SBPS_OK) multiply_factor(n, p.factor, factor);
    free(block);
    return status;
}

/* The core without pairs. Products are differences, too coarse for the block of nearly
 * collinear columns and of columns in units far apart: passes in the coordinates of the
 * current factor find what the first has missed. */
static sbps_status factor_core(metric *m, const metric_core *core, metric_source h,
                               sbps_error *err)
{
    size_t n = core->count;
    m->data = new_doubles(3 + n + n * n);
    if (!m->data) return fail_memory(err);
    products_parts p = parts_of(m->data, n, 0);
    p.counts[0] = (double)n;
    p.counts[2] = 1.0;
    for (size_t i = 0; i < n; i++) {
        p.core[i] = (double)core->at[i];
        p.factor[i * n + i] = 1.0;
    }
    sbps_status status = SBPS_OK;
    bool sound = n == 0;
    for (int pass = 0; pass < PASSES_MAX && !sound && status == SBPS_OK; pass++)
        status = refine_core(m, h, &sound, err);
    return status;
}

/* Lanczos's vectors, and the diagonals of the tridiagonal matrix. */
typedef struct {
    size_t capacity, count;
    double *basis;                   /* (capacity + 1) * d */
    double *diagonal, *off_diagonal; /* capacity + 1 */
    double *pairs;                   /* capacity * capacity */
    double *scratch;                 /* d */
} krylov;

/* Allocates the arrays of k for `capacity` vectors; the caller frees k->basis. */
static sbps_status krylov_open(size_t d, size_t capacity, krylov *k, sbps_error *err)
{
    *k = (krylov){.capacity = capacity};
    size_t vectors = (capacity + 1) * d;
    k->basis = new_doubles(vectors + 2 * (capacity + 1) + capacity * capacity + d);
    if (!k->basis) return fail_memory(err);
    k->diagonal = k->basis + vectors;
    k->off_diagonal = k->diagonal + capacity + 1;
    k->pairs = k->off_diagonal + capacity + 1;
    k->scratch = k->pairs + capacity * capacity;
    return SBPS_OK;
}

/* y = K'HK x */
static sbps_status whiten(const metric *m, metric_source h, const krylov *k, const double *x,
                          double *y, sbps_error *err)
{
    forward(m, x, k->scratch);
    sbps_status status = h.product(h.self, k->scratch, y, err);
    memcpy(k->scratch, y, m->d * sizeof *y);
    products_transpose(m, k->scratch, y);
    return status;
}

/* Adds a Lanczos vector; false if there are no more. */
static bool add_vector(const metric *m, metric_source h, krylov *k, sbps_status *status,
                       sbps_error *err)
{
    size_t d = m->d, i = k->count;
    double *next = k->basis + (i + 1) * d;
    *status = whiten(m, h, k, k->basis + i * d, next, err);
    if (*status != SBPS_OK) return false;
    k->diagonal[i] = m->k->dot(d, next, k->basis + i * d);
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j <= i; j++)
            m->k->axpy(d, -m->k->dot(d, next, k->basis + j * d), k->basis + j * d, next);
    double length = sqrt(m->k->dot(d, next, next));
    k->off_diagonal[i] = length;
    k->count++;
    if (!(length > EXHAUSTED) || !isfinite(length)) return false;
    for (size_t j = 0; j < d; j++) next[j] /= length;
    return true;
}

/* True if the pair has converged. */
static bool has_converged(const krylov *k, const double *values, size_t pair)
{
    double last = k->pairs[pair * k->count + k->count - 1];
    return fabs(k->off_diagonal[k->count - 1] * last) <= CONVERGED * fabs(values[pair]);
}

/* Pairs below `low` and from `high` on are corrected; values are in ascending order. */
typedef struct {
    size_t low, high;
} pair_range;

/* Mean of the eigenvalues that are not corrected, since all add up to the trace d. */
static double mean_of_rest(size_t d, const krylov *k, const double *values,
                           pair_range corrected)
{
    size_t rank = corrected.low + k->count - corrected.high;
    double rest = (double)d;
    for (size_t i = 0; i < k->count; i++)
        if (i < corrected.low || i >= corrected.high) rest -= values[i];
    return rest > 0.0 && rank < d ? rest / (double)(d - rank) : 1.0;
}

/* Largest over smallest of the eigenvalues that are not corrected, and of their mean, which
 * stands for those that Lanczos did not separate. An eigenvalue that is negative, away from
 * the mode, counts by its size, as in store_pair. */
static double spread_of_rest(size_t d, const krylov *k, const double *values,
                             pair_range corrected)
{
    double smallest = mean_of_rest(d, k, values, corrected), largest = smallest;
    for (size_t i = corrected.low; i < corrected.high; i++) {
        smallest = fmin(smallest, fabs(values[i]));
        largest = fmax(largest, fabs(values[i]));
    }
    return largest / fmax(smallest, FLOOR);
}

/* Minimises (2) over the converged pairs. */
static pair_range choose_ends(const metric *m, const krylov *k, const double *values,
                              double gradient_cost)
{
    size_t n = k->count, low_max = 0, high_max = 0;
    while (low_max + 1 < n && has_converged(k, values, low_max)) low_max++;
    while (high_max + 1 < n && has_converged(k, values, n - 1 - high_max)) high_max++;
    pair_range best = {0, n};
    double lowest = INFINITY;
    for (size_t low = 0; low <= low_max; low++)
        for (size_t high = 0; high <= high_max && low + high < n; high++) {
            double spread = spread_of_rest(m->d, k, values, (pair_range){low, n - high});
            double cost = gradient_cost + PAIR_COST * (double)((low + high) * m->d);
            cost *= sqrt(fmax(spread, 1.0));
            if (!(cost < lowest)) continue;
            lowest = cost;
            best = (pair_range){low, n - high};
        }
    return best;
}

/* Stores pair `pair` as number `to`. */
static void store_pair(const metric *m, const krylov *k, double value, size_t pair, size_t to)
{
    products_parts p = view(m);
    p.weight[to] = fmax(fabs(value), FLOOR) / p.counts[2];
    for (size_t j = 0; j < k->count; j++)
        m->k->axpy(m->d, k->pairs[pair * k->count + j], k->basis + j * m->d,
                   p.vector + to * m->d);
}

/* Stores (1). */
static sbps_status store_pairs(metric *m, const krylov *k, const double *values,
                               pair_range corrected, sbps_error *err)
{
    size_t d = m->d, rank = corrected.low + k->count - corrected.high,
           core = (size_t)m->data[0];
    double *data = new_doubles(3 + core + core * core + rank + rank * d);
    if (!data) return fail_memory(err);
    memcpy(data, m->data, (3 + core + core * core) * sizeof *data);
    free(m->data);
    m->data = data;
    data[1] = (double)rank;
    data[2] = mean_of_rest(d, k, values, corrected);
    for (size_t i = 0, to = 0; i < k->count; i++)
        if (i < corrected.low || i >= corrected.high) store_pair(m, k, values[i], i, to++);
    return SBPS_OK;
}

/* Eigenpairs of the tridiagonal matrix: values into k->diagonal, ascending. */
static sbps_status solve(krylov *k, sbps_error *err)
{
    double *off_diagonal = new_doubles(k->count);
    if (!off_diagonal) return fail_memory(err);
    memcpy(off_diagonal, k->off_diagonal, k->count * sizeof *off_diagonal);
    lapack_int n = (lapack_int)k->count,
               info = LAPACKE_dstev(LAPACK_COL_MAJOR, 'V', n, k->diagonal, off_diagonal,
                                    k->pairs, n);
    free(off_diagonal);
    if (info == 0) return SBPS_OK;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode has no eigenvectors");
}

/* Lanczos from a fixed random vector, then the pairs that (2) chooses. */
static sbps_status add_pairs(metric *m, size_t steps, metric_source h, sbps_error *err)
{
    krylov k;
    size_t d = m->d;
    sbps_status status = krylov_open(d, steps < d ? steps : d, &k, err);
    if (status != SBPS_OK) return status;
    rng random = rng_stream(SEED, 0, RNG_START);
    rng_sphere(&random, d, k.basis);
    while (k.count < k.capacity && add_vector(m, h, &k, &status, err)) {}
    if (status == SBPS_OK) status = solve(&k, err);
    if (status == SBPS_OK)
        status = store_pairs(m, &k, k.diagonal, choose_ends(m, &k, k.diagonal, h.gradient_cost),
                             err);
    free(k.basis);
    return status;
}

sbps_status metric_from_products(size_t d, const metric_core *core, size_t steps,
                                 metric_source h, metric **out, sbps_error *err)
{
    *out = NULL;
    metric *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    *m = (metric){.kind = &metric_products, .d = d, .k = kernels_best()};
    sbps_status status = factor_core(m, core, h, err);
    if (status == SBPS_OK && steps > 0) status = add_pairs(m, steps, h, err);
    if (status == SBPS_OK)
        *out = m;
    else
        metric_destroy(m);
    return status;
}
