/* factor(): numbers as levels, the distinct values in increasing order or those listed in their
 * order, named as R writes numbers. */
#include "core/decimal.h"
#include "ingest/formula/transform.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 1000 /* listed levels, which are searched one by one for each row */

typedef struct {
    double *value; /* increasing, unless they are listed */
    size_t count;
    bool listed;
} number_levels;

static sbps_status factor_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "levels", NULL};
    number_levels *l = *self = pool_take(c->pool, sizeof *l);
    if (!l) return fail_memory(c->err);
    sbps_status status = call_match(c, formal, given);
    if (status != SBPS_OK || !given[1]) return status;
    l->listed = true;
    status = call_list(c, given[1], &l->value, &l->count);
    for (size_t k = 0; status == SBPS_OK && k < l->count; k++)
        for (size_t i = 0; i < k; i++)
            if (l->value[i] == l->value[k]) return fail_call(c, "a level appears twice");
    if (status == SBPS_OK && (l->count == 0 || l->count > LISTED_MAX))
        return fail_call(c, "levels must be 1 to 1000 numbers: levels = c(1, 2, 3)");
    return status;
}

static sbps_status factor_fit(const call *c, void *self, double *value, size_t n)
{
    number_levels *l = self;
    size_t count = 0;
    if (l->listed) return SBPS_OK;
    qsort(value, n, sizeof *value, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[count - 1]) value[count++] = value[i];
    l->value = pool_array(c->pool, count + 1, sizeof *value);
    if (!l->value) return fail_memory(c->err);
    if (count > 0) memcpy(l->value, value, count * sizeof *value);
    l->count = count;
    return SBPS_OK;
}

static size_t factor_learned(const void *self, double *out)
{
    const number_levels *l = self;
    if (l->listed) return 0; /* they are in the formula */
    if (out && l->count > 0) memcpy(out, l->value, l->count * sizeof *out);
    return l->count;
}

static sbps_status factor_recall(const call *c, void *self, const double *learned, size_t n)
{
    number_levels *l = self;
    if (l->listed) return n == 0 ? SBPS_OK : fail_recall(c);
    l->value = pool_array(c->pool, n + 1, sizeof *l->value);
    if (!l->value) return fail_memory(c->err);
    if (n > 0) memcpy(l->value, learned, n * sizeof *learned);
    l->count = n;
    return SBPS_OK;
}

static size_t factor_width(const void *self)
{
    return ((const number_levels *)self)->count;
}

static size_t listed_level(const number_levels *l, double x)
{
    for (size_t k = 0; k < l->count; k++)
        if (l->value[k] == x) return k;
    return SIZE_MAX;
}

static bool factor_takes(const void *self, double x)
{
    const number_levels *l = self;
    return !l->listed || listed_level(l, x) != SIZE_MAX;
}

static size_t factor_level(const void *self, double x)
{
    const number_levels *l = self;
    if (l->listed) return listed_level(l, x);
    const double *found =
        l->count ? bsearch(&x, l->value, l->count, sizeof x, by_number) : NULL;
    return found ? (size_t)(found - l->value) : SIZE_MAX;
}

static const char *factor_level_name(const void *self, size_t level, pool *p)
{
    number_shown s = number_as_level(((const number_levels *)self)->value[level]);
    return pool_text(p, s.text, strlen(s.text));
}

const transform_kind transform_factor = {
    .name = "factor",
    .levels = true,
    .open = factor_open,
    .fit = factor_fit,
    .learned = factor_learned,
    .recall = factor_recall,
    .width = factor_width,
    .takes = factor_takes,
    .level = factor_level,
    .level_name = factor_level_name,
};

/* ---- cut() ----
 *
 * Intervals as levels, as R's cut(): given breaks, or a number of intervals of equal width, of
 * which the outer ones are extended by a thousandth of the range. Names show breaks with three
 * digits, or as many as are needed to distinguish them. */

#define INTERVALS_MAX 1000
#define DIGITS_MAX    12

typedef struct {
    double *at; /* intervals + 1, increasing */
    size_t intervals;
    bool equal;  /* of equal width: breaks are computed from all rows */
    bool right;  /* (a,b], else [a,b) */
    bool lowest; /* the outermost break belongs to its interval */
    size_t digits;
} intervals;

static sbps_status read_breaks(const call *c, const node *given, intervals *b)
{
    size_t count = 0;
    if (!given) return fail_call(c, "it needs breaks: their number, or c(0, 1, ...)");
    if (!is_call(given, "c")) {
        b->equal = true;
        sbps_status status = call_count(c, given, 2, INTERVALS_MAX, &b->intervals);
        b->at = pool_array(c->pool, b->intervals + 1, sizeof *b->at);
        return status == SBPS_OK && !b->at ? fail_memory(c->err) : status;
    }
    sbps_status status = call_numbers(c, given, &b->at, &count);
    if (status == SBPS_OK && (count < 2 || count > INTERVALS_MAX))
        return fail_call(c, "it needs 2 to 1000 breaks");
    for (size_t k = 1; status == SBPS_OK && k < count; k++)
        if (b->at[k] == b->at[k - 1]) return fail_call(c, "a break appears twice");
    b->intervals = count - 1;
    return status;
}

static sbps_status cut_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x",     "breaks",  "include.lowest",
                                         "right", "dig.lab", NULL};
    intervals *b = *self = pool_take(c->pool, sizeof *b);
    if (!b) return fail_memory(c->err);
    b->right = true;
    b->digits = 3;
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = read_breaks(c, given[1], b);
    if (status == SBPS_OK) status = call_flag(c, given[2], &b->lowest);
    if (status == SBPS_OK) status = call_flag(c, given[3], &b->right);
    return status == SBPS_OK ? call_count(c, given[4], 1, DIGITS_MAX, &b->digits) : status;
}

static void show_break(double value, size_t digits, char text[32])
{
    decimal_print(text, 32, "%.*g", (int)digits, value + 0.0);
    if (isinf(value)) strcpy(text, value > 0 ? "Inf" : "-Inf");
}

/* Increases the digits until neighbouring breaks differ. */
static void extend_digits(intervals *b)
{
    for (bool distinct = false; !distinct && b->digits < DIGITS_MAX;) {
        distinct = true;
        for (size_t k = 1; distinct && k <= b->intervals; k++) {
            char one[32], other[32];
            show_break(b->at[k - 1], b->digits, one);
            show_break(b->at[k], b->digits, other);
            distinct = strcmp(one, other) != 0;
        }
        if (!distinct) b->digits++;
    }
}

static sbps_status cut_fit(const call *c, void *self, double *value, size_t n)
{
    intervals *b = self;
    double low = INFINITY, high = -INFINITY;
    if (b->equal) {
        for (size_t i = 0; i < n; i++) {
            low = fmin(low, value[i]);
            high = fmax(high, value[i]);
        }
        if (!(high > low)) return fail_call(c, "all values are the same");
        double by = (high - low) / (double)b->intervals;
        for (size_t k = 0; k <= b->intervals; k++) b->at[k] = low + (double)k * by;
        b->at[0] = low - (high - low) / 1000.0;
        b->at[b->intervals] = high + (high - low) / 1000.0;
    }
    extend_digits(b);
    return SBPS_OK;
}

/* Breaks listed in the formula need not be stored. */
static size_t cut_learned(const void *self, double *out)
{
    const intervals *b = self;
    if (!b->equal) return 0;
    for (size_t k = 0; out && k <= b->intervals; k++) out[k] = b->at[k];
    return b->intervals + 1;
}

static sbps_status cut_recall(const call *c, void *self, const double *learned, size_t n)
{
    intervals *b = self;
    if (n != cut_learned(b, NULL)) return fail_recall(c);
    for (size_t k = 0; k < n; k++) b->at[k] = learned[k];
    extend_digits(b);
    return SBPS_OK;
}

static size_t cut_width(const void *self)
{
    return ((const intervals *)self)->intervals;
}

static size_t cut_level(const void *self, double x)
{
    const intervals *b = self;
    size_t low = 0, high = b->intervals; /* at[low] is below x, at[high] above */
    const double *at = b->at;
    bool outer = x == at[b->right ? 0 : high];
    if (outer && b->lowest) return b->right ? 0 : high - 1;
    bool inside = b->right ? at[0] < x && x <= at[high] : at[0] <= x && x < at[high];
    if (!inside) return SIZE_MAX;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        bool above = b->right ? at[middle] < x : at[middle] <= x;
        if (above)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Breaks computed from all rows will include every value. */
static bool cut_takes(const void *self, double x)
{
    return ((const intervals *)self)->equal || cut_level(self, x) != SIZE_MAX;
}

static const char *cut_level_name(const void *self, size_t level, pool *p)
{
    const intervals *b = self;
    char low[32], high[32], both[80];
    show_break(b->at[level], b->digits, low);
    show_break(b->at[level + 1], b->digits, high);
    bool closed_low = !b->right || (b->lowest && level == 0);
    bool closed_high = b->right || (b->lowest && level + 1 == b->intervals);
    int length =
        decimal_print(both, sizeof both, "%c%s,%s%s%c", closed_low ? '[' : '(', low,
                      (b->at[0] == -INFINITY && b->at[level + 1] == INFINITY) ? " " : "", high,
                      closed_high ? ']' : ')');
    return pool_text(p, both, (size_t)length);
}

const transform_kind transform_cut = {
    .name = "cut",
    .levels = true,
    .open = cut_open,
    .fit = cut_fit,
    .learned = cut_learned,
    .recall = cut_recall,
    .width = cut_width,
    .takes = cut_takes,
    .level = cut_level,
    .level_name = cut_level_name,
};
