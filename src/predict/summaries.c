/* Quantiles are R's type 7: at h = (n - 1) p the order statistics beside h, weighed by how near they are. They are selected
 * (Hoare 1961, Algorithm 65: FIND) among the few values that lie near where a normal of the same mean and sd would have them;
 * among all where the quantile is not there. */
#include "predict/summaries.h"

#include "base/kernels.h"

#include <math.h>
#include <stdbool.h>

static void exchange(double *a, double *b)
{
    double held = *a;
    *a = *b;
    *b = held;
}

/* value[k] becomes the k-th of [low, high], with none larger before it and none smaller behind. */
static void find(double *value, size_t low, size_t high, size_t k)
{
    while (low < high) {
        size_t i = low, j = high, middle = low + (high - low) / 2;
        if (value[middle] < value[low]) exchange(&value[middle], &value[low]);
        if (value[high] < value[low]) exchange(&value[high], &value[low]);
        if (value[high] < value[middle]) exchange(&value[high], &value[middle]);
        double pivot = value[middle];
        for (;;) {
            while (value[i] < pivot) i++;
            while (pivot < value[j]) j--;
            if (i >= j) break;
            exchange(&value[i++], &value[j--]);
        }
        size_t split = i == j ? i : j;
        if (k <= split)
            high = split;
        else
            low = split + 1;
    }
}

static double least(const double *value, size_t from, size_t to)
{
    double low = value[from];
    for (size_t i = from + 1; i <= to; i++) low = value[i] < low ? value[i] : low;
    return low;
}

static double quantile(double *value, size_t n, double p)
{
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    double rest = h - (double)k;
    find(value, 0, n - 1, k);
    if (rest == 0.0 || k == n - 1) return value[k];
    return value[k] + rest * (least(value, k + 1, n - 1) - value[k]);
}

/* ---- windows ---- */

#define WINDOWS 3
#define REACH   0.2           /* sd to either side of where a normal would have the quantile */
#define ROOM    ((size_t)512) /* values of a window */
#define ENOUGH  ((size_t)100) /* values, below which finding in all is as quick */

typedef struct {
    double low, high;
    size_t below, held; /* values before the window, and in it */
    double value[ROOM + 1];
} window;

/* One pass without branches: nobody foresees which way they would go. */
static void look_through(size_t n, const double *value, window *w)
{
    for (size_t i = 0; i < n; i++) {
        double x = value[i];
        w->below += x < w->low;
        w->value[w->held] = x;
        w->held += (size_t)(x >= w->low) & (size_t)(x <= w->high) & (size_t)(w->held < ROOM);
    }
}

/* Whether the order statistics that the quantile lies between are in the window; then it is told. */
static bool quantile_by_window(size_t n, const double *value, double centre, double sd,
                               double p, double *out)
{
    window w = {.low = centre - REACH * sd, .high = centre + REACH * sd};
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    double rest = h - (double)k;
    look_through(n, value, &w);
    if (w.held == ROOM || k < w.below || k + 1 >= w.below + w.held) return false;
    k -= w.below;
    find(w.value, 0, w.held - 1, k);
    *out = rest == 0.0 ? w.value[k]
                       : w.value[k] + rest * (least(w.value, k + 1, w.held - 1) - w.value[k]);
    return true;
}

static void moments(size_t n, const double *value, value_summary *out)
{
    const kernels *k = kernels_best();
    double sums[2];
    k->sum_squares(n, value, 0.0, sums);
    out->mean = sums[0] / (double)n;
    k->sum_squares(n, value, out->mean, sums);
    out->sd = n > 1 ? sqrt(sums[1] / (double)(n - 1)) : 0.0;
}

value_summary summarise_values(size_t n, double *value)
{
    static const double share[WINDOWS] = {0.5, 0.05, 0.95};
    static const double normal[WINDOWS] = {0.0, -1.6448536269514722, 1.6448536269514722};
    value_summary out;
    double *to[WINDOWS] = {&out.q50, &out.q5, &out.q95};
    moments(n, value, &out);
    for (size_t k = 0; k < WINDOWS; k++) {
        double centre = out.mean + normal[k] * out.sd;
        if (n < ENOUGH || !quantile_by_window(n, value, centre, out.sd, share[k], to[k]))
            *to[k] = quantile(value, n, share[k]);
    }
    return out;
}
