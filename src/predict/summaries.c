/* Quantiles are R's type 7: at h = (n - 1) p the order statistics beside h, weighed by how near they are. They are selected
 * (Hoare 1961, Algorithm 65: FIND), the middle one first, so that the others have half the values to look at. */
#include "predict/summaries.h"

#include <math.h>

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

/* At p, of which it is known that it lies in [low, high]. */
static double quantile(double *value, size_t low, size_t high, size_t n, double p)
{
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    double rest = h - (double)k;
    find(value, low, high, k);
    if (rest == 0.0 || k == n - 1) return value[k];
    double next = least(value, k + 1, k < high ? high : k + 1);
    return value[k] + rest * (next - value[k]);
}

static void moments(size_t n, const double *value, value_summary *out)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) sum += value[i];
    out->mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) square += (value[i] - out->mean) * (value[i] - out->mean);
    out->sd = n > 1 ? sqrt(square / (double)(n - 1)) : 0.0;
}

value_summary summarise_values(size_t n, double *value)
{
    value_summary out;
    moments(n, value, &out);
    size_t middle = (n - 1) / 2;
    out.q50 = quantile(value, 0, n - 1, n, 0.5);
    out.q5 = quantile(value, 0, middle, n, 0.05);
    out.q95 = quantile(value, middle, n - 1, n, 0.95);
    return out;
}
