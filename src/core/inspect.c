/* Checks of state that was read from a file: see inspect.h. Values are copied before they are
 * compared, because a bool or an enum that holds another value may not be read as such. */
#include "core/inspect.h"
#include "core/decimal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
#define ROUNDING   1e-6 /* relative to the largest: differences between processors */

void inspect_any(inspection *x, const void *bytes, size_t size)
{
    if (!x->seen || size == 0) return;
    size_t first = (size_t)((const unsigned char *)bytes - x->base);
    memset(x->seen + first / WORD_BYTES, 1,
           (first + size - 1) / WORD_BYTES - first / WORD_BYTES + 1);
}

/* True while no violation was found. */
static bool all_valid(const inspection *x)
{
    return !x->wrong[0];
}

/* The last part of a member's name as the code spells it, "count" of "s->count". */
static const char *short_name(const char *what)
{
    const char *arrow = strrchr(what, '>');
    return arrow ? arrow + 1 : what;
}

void inspect_that(inspection *x, const char *what, bool holds)
{
    if (all_valid(x) && !holds) decimal_print(x->wrong, sizeof x->wrong, "%s", what);
}

void inspect_count(inspection *x, const char *what, const uint64_t *value, uint64_t max)
{
    inspect_any(x, value, sizeof *value);
    if (all_valid(x) && *value > max)
        decimal_print(x->wrong, sizeof x->wrong, "%s is %llu, at most %llu can be",
                      short_name(what), (unsigned long long)*value, (unsigned long long)max);
}

void inspect_flag(inspection *x, const char *what, const bool *value)
{
    unsigned char byte;
    inspect_any(x, value, sizeof *value);
    memcpy(&byte, value, sizeof byte);
    if (all_valid(x) && byte > 1)
        decimal_print(x->wrong, sizeof x->wrong, "%s is neither true nor false",
                      short_name(what));
}

void inspect_kind(inspection *x, const char *what, const void *value, unsigned max)
{
    unsigned kind;
    inspect_any(x, value, sizeof kind);
    memcpy(&kind, value, sizeof kind);
    if (all_valid(x) && kind > max)
        decimal_print(x->wrong, sizeof x->wrong, "%s is of kind %u, which there is not",
                      short_name(what), kind);
}

void inspect_reals(inspection *x, const char *what, const double *values, size_t n, double low,
                   double high)
{
    inspect_any(x, values, n * sizeof *values);
    for (size_t i = 0; i < n && all_valid(x); i++)
        if (!(values[i] >= low && values[i] <= high))
            decimal_print(x->wrong, sizeof x->wrong, "%s is %g, from %g to %g can be",
                          short_name(what), values[i], low, high);
}

void inspect_finite(inspection *x, const char *what, const double *values, size_t n)
{
    inspect_reals(x, what, values, n, -DBL_MAX, DBL_MAX);
}

/* The same bytes in the block as set-up made it. */
static const void *fresh_bytes(const inspection *x, const void *bytes)
{
    return x->fresh + ((const unsigned char *)bytes - x->base);
}

void inspect_made(inspection *x, const char *what, const double *values, size_t n)
{
    const double *ours = fresh_bytes(x, values);
    double largest = 0.0;
    inspect_any(x, values, n * sizeof *values);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(ours[i]));
    for (size_t i = 0; i < n && all_valid(x); i++) {
        bool same = !memcmp(&values[i], &ours[i], sizeof *ours);
        if (!same && !(fabs(values[i] - ours[i]) <= ROUNDING * largest))
            decimal_print(x->wrong, sizeof x->wrong, "%s is %g, set-up makes it %g",
                          short_name(what), values[i], ours[i]);
    }
}

void inspect_same(inspection *x, const char *what, const void *bytes, size_t size)
{
    inspect_any(x, bytes, size);
    if (all_valid(x) && memcmp(bytes, fresh_bytes(x, bytes), size))
        decimal_print(x->wrong, sizeof x->wrong, "%s is not what set-up makes it",
                      short_name(what));
}

void inspect_whole(inspection *x, const char *what, const void *bytes, size_t size)
{
    if (!x->seen) return;
    size_t first = (size_t)((const unsigned char *)bytes - x->base) / WORD_BYTES;
    for (size_t i = 0; i < size / WORD_BYTES && all_valid(x); i++)
        if (!x->seen[first + i])
            decimal_print(x->wrong, sizeof x->wrong, "word %zu of %s is not inspected", i,
                          what);
}
