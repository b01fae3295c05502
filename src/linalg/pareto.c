/* Pareto smoothing. The M = min(n/5, 3 sqrt(n)) largest of n weights, less the largest of
 * the others, are modelled as draws of
 *
 *   F(x) = 1 - (1 + k x / s)^(-1/k),                                                        (1)
 *
 * fitted by the posterior mean of theta = -k/s over a grid of 30 + sqrt(M) points under a
 * weak prior:
 *
 *   k(theta) = mean log(1 - theta x),   log-likelihood M (log(-theta / k) - k - 1),         (2)
 *   k <- (M k + 5) / (M + 10)
 *
 * and replaced by the quantiles of (1) at (j - 1/2)/M, in their order.
 *
 * Vehtari, Simpson, Gelman, Yao, Gabry (2024), JMLR 25(72); Zhang, Stephens (2009),
 * Technometrics 51, 316-325, for (2). */
#include "linalg/pareto.h"

#include <math.h>
#include <stdbool.h>

#define TAIL_MIN   ((size_t)5)
#define GRID       30
#define POINTS_MAX ((size_t)1024) /* enough for 1e11 weights */
#define PRIOR      3.0
#define SHRINK     10.0

/* ---- ranks ---- */

static bool before(const ranked_weight *a, const ranked_weight *b)
{
    return a->log_weight != b->log_weight ? a->log_weight < b->log_weight : a->index < b->index;
}

/* Restores a heap with the largest on top, of which only element `at` may be too small. */
static void sink(ranked_weight *heap, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1])) child++;
        if (!before(&heap[at], &heap[child])) return;
        ranked_weight held = heap[at];
        heap[at] = heap[child];
        heap[child] = held;
    }
}

/* Heap sort: steps of samplers must not allocate, as qsort may. */
static void sort(ranked_weight *x, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sink(x, i, n);
    for (size_t last = n; last-- > 1;) {
        ranked_weight held = x[0];
        x[0] = x[last];
        x[last] = held;
        sink(x, 0, last);
    }
}

/* Moves the `count` largest of n to the end, in any order (Hoare 1961, Algorithm 65: FIND). */
static void part_tail(ranked_weight *x, size_t n, size_t count)
{
    size_t low = 0, high = n - 1, cut = n - count;
    while (low < high) {
        ranked_weight pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (before(&x[i], &pivot)) i++;
            while (before(&pivot, &x[j])) j--;
            if (i >= j) break;
            ranked_weight held = x[i];
            x[i] = x[j];
            x[j] = held;
        }
        size_t split = i == j ? i : j;
        if (cut <= split)
            high = split;
        else
            low = split + 1;
    }
}

/* ---- the fit ---- */

/* The tail in increasing order: weights less the largest of the others. */
typedef struct {
    const ranked_weight *ranked;
    ranked_weight *scratch; /* of the same length; its log_weight holds the differences */
    size_t n;
    /* cut: the largest of the others; both relative to the largest weight, whose logarithm
     * is top */
    double cut, top;
} tail;

static double excess(const tail *t, size_t j)
{
    return t->scratch[j].log_weight;
}

/* k(theta) of (2). */
static double shape(const tail *t, double theta)
{
    double sum = 0.0;
    for (size_t j = 0; j < t->n; j++) sum += log1p(-theta * excess(t, j));
    return sum / (double)t->n;
}

/* The log-likelihood of (2). */
static double log_likelihood(const tail *t, double theta)
{
    double k = shape(t, theta);
    return (double)t->n * (log(-theta / k) - k - 1.0);
}

/* The first quartile of the tail, the scale of the prior. */
static double quarter_of(const tail *t)
{
    return excess(t, (size_t)floor(0.25 * (double)t->n + 0.5) - 1);
}

/* Posterior mean of theta over the grid. */
static double fit_theta(const tail *t)
{
    size_t points = GRID + (size_t)floor(sqrt((double)t->n));
    double quarter = quarter_of(t);
    double largest = excess(t, t->n - 1), top = -INFINITY, sum = 0.0, weighed = 0.0;
    double theta[POINTS_MAX], l[POINTS_MAX];
    if (points > POINTS_MAX) points = POINTS_MAX;
    for (size_t j = 0; j < points; j++) {
        double along = 1.0 - sqrt((double)points / ((double)j + 0.5));
        theta[j] = 1.0 / largest + along / (PRIOR * quarter);
        l[j] = log_likelihood(t, theta[j]);
        if (l[j] > top) top = l[j];
    }
    for (size_t j = 0; j < points; j++) {
        sum += exp(l[j] - top);
        weighed += theta[j] * exp(l[j] - top);
    }
    return weighed / sum;
}

/* The p-quantile of (1). */
static double quantile(double k, double s, double p)
{
    return k == 0.0 ? -s * log1p(-p) : s * expm1(-k * log1p(-p)) / k;
}

/* Replaces the tail's weights by quantiles of the fit; returns k. */
static double smooth_tail(const tail *t, double *log_weight)
{
    double theta = fit_theta(t), k = shape(t, theta), s = -k / theta;
    k = ((double)t->n * k + 0.5 * SHRINK) / ((double)t->n + SHRINK);
    for (size_t j = 0; isfinite(k) && j < t->n; j++) {
        double p = ((double)j + 0.5) / (double)t->n;
        double smooth = log(t->cut + quantile(k, s, p));
        log_weight[t->ranked[j].index] = t->top + fmin(smooth, 0.0);
    }
    return isfinite(k) ? k : INFINITY;
}

static double largest_of(const ranked_weight *x, size_t n)
{
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) top = fmax(top, x[i].log_weight);
    return top;
}

double pareto_smooth(size_t n, double *log_weight, ranked_weight *scratch)
{
    size_t tail_size = (size_t)ceil(fmin(0.2 * (double)n, 3.0 * sqrt((double)n)));
    if (tail_size < TAIL_MIN || tail_size >= n) return INFINITY;
    for (size_t i = 0; i < n; i++) scratch[i] = (ranked_weight){log_weight[i], i};
    part_tail(scratch, n, tail_size);
    sort(scratch + (n - tail_size), tail_size);
    tail t = {.ranked = scratch + (n - tail_size),
              .scratch = scratch,
              .n = tail_size,
              .top = scratch[n - 1].log_weight};
    t.cut = exp(largest_of(scratch, n - tail_size) - t.top);
    for (size_t j = 0; j < tail_size; j++)
        scratch[j].log_weight = exp(t.ranked[j].log_weight - t.top) - t.cut;
    /* a tail without spread has no shape; nor does one whose first quartile is 0, from which
     * the fit starts */
    if (!(quarter_of(&t) > 0.0) || !isfinite(t.top)) return INFINITY;
    return smooth_tail(&t, log_weight);
}
