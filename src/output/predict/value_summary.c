/* Quantiles are R's type 7: at h = (n - 1) p the order statistics beside h, weighed by how near they are. They are selected
 * (Hoare 1961, Algorithm 65: FIND) among the few values that lie near where a normal of the same mean and sd would have them,
 * and of these near where they would be if they lay evenly; among all where the quantile is not there. */
#include "output/predict/value_summary.h"

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

static double smallest(const double *value, size_t from, size_t to)
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
    return value[k] + rest * (smallest(value, k + 1, n - 1) - value[k]);
}

/* ---- windows ---- */

#define WINDOWS         3
#define REACH           0.2 /* sd to either side of where a normal would have the quantile */
#define FEW             ((size_t)12) /* values of a window that are not looked through once more */
#define NEARER          1.0 /* times 1/sqrt(n) of a window: two sd of where a value of n is */
#define ENOUGH          ((size_t)100)  /* values, below which finding in all is as quick */
#define WINDOW_CAPACITY ((size_t)1024) /* values of a window */
#define PIECE                                                                                  \
    ((size_t)1024) /* values looked through at a time, so that none falls outside the room */

typedef struct {
    double low, high;
    size_t below, held; /* values before the window, and in it */
    double value[WINDOW_CAPACITY + PIECE + TAKE_PADDING];
} window;

/* False: it holds too many. */
static bool collect_window(const kernels *k, size_t n, const double *value, window *w)
{
    w->below = w->held = 0;
    for (size_t i = 0; i < n && w->held < WINDOW_CAPACITY; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE, below;
        w->held +=
            k->take_between(count, value + i, w->low, w->high, w->value + w->held, &below);
        w->below += below;
    }
    return w->held < WINDOW_CAPACITY;
}

/* Whether the k-th of all and the one behind it are in the window. */
static bool holds(const window *w, size_t k)
{
    return k >= w->below && k + 1 < w->below + w->held;
}

/* The part of a window where its k-th value should be, values lying evenly. */
static bool narrow_window(const kernels *of, const window *w, size_t k, window *part)
{
    double m = (double)w->held, width = w->high - w->low;
    double at = w->low + width * ((double)k + 1.0) / (m + 1.0),
           reach = NEARER * width / sqrt(m);
    part->low = at - reach;
    part->high = at + reach;
    return collect_window(of, w->held, w->value, part) && holds(part, k);
}

/* Whether the quantile was found; then it is told. */
static bool quantile_by_window(const kernels *of, size_t n, const double *value, double centre,
                               double sd, double p, double *out)
{
    window windows[2], *in = &windows[0], *next = &windows[1];
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    double rest = h - (double)k;
    in->low = centre - REACH * sd;
    in->high = centre + REACH * sd;
    if (!collect_window(of, n, value, in) || !holds(in, k)) return false;
    k -= in->below;
    while (in->held > FEW && narrow_window(of, in, k, next) && next->held < in->held) {
        window *held = in;
        in = next;
        next = held;
        k -= in->below;
    }
    find(in->value, 0, in->held - 1, k);
    *out = in->value[k];
    if (rest != 0.0) *out += rest * (smallest(in->value, k + 1, in->held - 1) - *out);
    return true;
}

static void moments(const kernels *k, size_t n, const double *value, value_summary *out)
{
    double sums[2];
    k->sum_squares(n, value, 0.0, sums);
    out->mean = sums[0] / (double)n;
    k->sum_squares(n, value, out->mean, sums);
    out->sd = n > 1 ? sqrt(sums[1] / (double)(n - 1)) : 0.0;
}

value_summary summarise_values(const kernels *k, size_t n, double *value)
{
    static const double probability[WINDOWS] = {0.5, 0.05, 0.95};
    static const double normal[WINDOWS] = {0.0, -1.6448536269514722, 1.6448536269514722};
    value_summary out;
    double *to[WINDOWS] = {&out.q50, &out.q5, &out.q95};
    moments(k, n, value, &out);
    for (size_t i = 0; i < WINDOWS; i++) {
        double centre = out.mean + normal[i] * out.sd;
        if (n < ENOUGH ||
            !quantile_by_window(k, n, value, centre, out.sd, probability[i], to[i]))
            *to[i] = quantile(value, n, probability[i]);
    }
    return out;
}
