/* Quantiles are R's type 7: at h = (n - 1) p they interpolate the order statistics on either
 * side of h. These are selected (Hoare 1961, Algorithm 65: FIND) not among all values but in a
 * narrow window around the place where a normal of the same mean and sd has the quantile;
 * within the window the search is narrowed once more as if its values were evenly spaced. If
 * the quantile is not in the window, all values are searched. */
#include "output/predict/value_summary.h"
#include "estimate/normal_scores.h"

#include <math.h>
#include <stdbool.h>

static void swap_values(double *a, double *b)
{
    double first = *a;
    *a = *b;
    *b = first;
}

/* Rearranges value[low..high] so that value[k] is in its sorted place, with none larger before
 * it and none smaller after it. */
static void select_value(double *value, size_t low, size_t high, size_t k)
{
    while (low < high) {
        size_t i = low, j = high, middle = low + (high - low) / 2;
        if (value[middle] < value[low]) swap_values(&value[middle], &value[low]);
        if (value[high] < value[low]) swap_values(&value[high], &value[low]);
        if (value[high] < value[middle]) swap_values(&value[high], &value[middle]);
        double pivot = value[middle];
        for (;;) {
            while (value[i] < pivot) i++;
            while (pivot < value[j]) j--;
            if (i >= j) break;
            swap_values(&value[i++], &value[j--]);
        }
        size_t split = i == j ? i : j;
        if (k <= split)
            high = split;
        else
            low = split + 1;
    }
}

/* The smallest of value[from..to]. */
static double smallest(const double *value, size_t from, size_t to)
{
    double low = value[from];
    for (size_t i = from + 1; i <= to; i++) low = value[i] < low ? value[i] : low;
    return low;
}

/* The p-quantile of n values by selection among all of them; reorders them. */
static double quantile(double *value, size_t n, double p)
{
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    double rest = h - (double)k;
    select_value(value, 0, n - 1, k);
    if (rest == 0.0 || k == n - 1) return value[k];
    return value[k] + rest * (smallest(value, k + 1, n - 1) - value[k]);
}

/* ---- windows ---- */

#define WINDOWS         3
#define REACH           0.2          /* half width of the window, in sd */
#define FEW             ((size_t)12) /* values of a window that is not narrowed further */
#define NEARER          1.0 /* half width of the next window, times width / sqrt(n): two sd */
#define ENOUGH          ((size_t)100)  /* values below which searching all is as fast */
#define WINDOW_CAPACITY ((size_t)1024) /* values of a window */
#define PIECE           ((size_t)1024) /* values tested at a time; fit in a window */

typedef struct {
    double low, high;
    size_t below, held; /* values before the window, and in it */
    double value[WINDOW_CAPACITY + PIECE + TAKE_PADDING];
} window;

/* Collects the values between low and high; returns false if there are too many. */
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

/* True if the k-th value of all and the next one are in the window. */
static bool holds(const window *w, size_t k)
{
    return k >= w->below && k + 1 < w->below + w->held;
}

/* Collects the part of a window where its k-th value is if values are evenly spaced; returns
 * whether it is there. */
static bool narrow_window(const kernels *of, const window *w, size_t k, window *part)
{
    double m = (double)w->held, width = w->high - w->low;
    double at = w->low + width * ((double)k + 1.0) / (m + 1.0),
           reach = NEARER * width / sqrt(m);
    part->low = at - reach;
    part->high = at + reach;
    return collect_window(of, w->held, w->value, part) && holds(part, k);
}

/* Computes a quantile from windows; returns false if it is not in them. */
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
        window *spare = in;
        in = next;
        next = spare;
        k -= in->below;
    }
    select_value(in->value, 0, in->held - 1, k);
    *out = in->value[k];
    if (rest != 0.0) *out += rest * (smallest(in->value, k + 1, in->held - 1) - *out);
    return true;
}

value_summary summarise_values(const kernels *k, size_t n, double *value, double interval)
{
    const double tail = 0.5 * (1.0 - interval), reach = normal_quantile(1.0 - tail);
    const double probability[WINDOWS] = {0.5, tail, 1.0 - tail};
    const double normal[WINDOWS] = {0.0, -reach, reach};
    value_summary out;
    double *to[WINDOWS] = {&out.median, &out.low, &out.high};
    /* Mean and standard deviation, in two passes. */
    double sums[2];
    k->sum_squares(n, value, 0.0, sums);
    out.mean = sums[0] / (double)n;
    k->sum_squares(n, value, out.mean, sums);
    out.sd = n > 1 ? sqrt(sums[1] / (double)(n - 1)) : 0.0;
    for (size_t i = 0; i < WINDOWS; i++) {
        double centre = out.mean + normal[i] * out.sd;
        if (n < ENOUGH ||
            !quantile_by_window(k, n, value, centre, out.sd, probability[i], to[i]))
            *to[i] = quantile(value, n, probability[i]);
    }
    return out;
}
