/* Chains in separate modes. Where a parameter's draws fall into ranges that no chain crosses,
 *
 *   max over the chains of one group  <  min over those of the next,                       (1)
 *
 * and every chain stays where it is (the means of its halves differ by less than its own sd), the
 * posterior has several peaks, or chains are stuck: R-hat alone does not say which it is. */
#include "output/summary/run_checks.h"

#include <math.h>
#include <stdlib.h>

#define DRAWS_MIN 50 /* a chain; fewer say nothing about ranges */
#define NAMED_MAX 4  /* places */

typedef struct {
    size_t chain;
    double low, high;
    bool stationary;
} range;

static double draw_at(const result *r, size_t chain, size_t i, size_t j)
{
    return r->w[(chain * r->draws + i) * r->dim + j];
}

static range range_of(const result *r, size_t chain, size_t j)
{
    range out = {.chain = chain, .low = INFINITY, .high = -INFINITY};
    size_t half = r->draws / 2;
    double first = 0.0, second = 0.0, square = 0.0;
    for (size_t i = 0; i < 2 * half; i++) {
        double x = draw_at(r, chain, i, j);
        *(i < half ? &first : &second) += x / (double)half;
        out.low = fmin(out.low, x);
        out.high = fmax(out.high, x);
    }
    double mean = 0.5 * (first + second);
    for (size_t i = 0; i < 2 * half; i++) {
        double off = draw_at(r, chain, i, j) - mean;
        square += off * off / (double)(2 * half);
    }
    out.stationary = fabs(first - second) < sqrt(square);
    return out;
}

static int by_low(const void *a, const void *b)
{
    double x = ((const range *)a)->low, y = ((const range *)b)->low;
    return (x > y) - (x < y);
}

static int by_chain(const void *a, const void *b)
{
    size_t x = ((const range *)a)->chain, y = ((const range *)b)->chain;
    return (x > y) - (x < y);
}

/* The ranges of parameter j, lowest first; returns how many groups (1) makes of them, 0 when a
 * chain has not settled. */
static size_t groups_of(const result *r, size_t j, range *ranges)
{
    size_t groups = 1;
    for (size_t c = 0; c < r->chains; c++) ranges[c] = range_of(r, c, j);
    qsort(ranges, r->chains, sizeof *ranges, by_low);
    double high = ranges[0].high;
    for (size_t c = 0; c < r->chains; c++) {
        if (!ranges[c].stationary) return 0;
        groups += ranges[c].low > high;
        high = fmax(high, ranges[c].high);
    }
    return groups;
}

/* "-1.02 to -0.97 (chains 2 and 4)" for the group that begins at `at`; where the next begins. */
static size_t name_group(const result *r, range *ranges, size_t at, text *seen)
{
    size_t end = at + 1;
    double low = ranges[at].low, high = ranges[at].high;
    for (; end < r->chains && ranges[end].low <= high; end++)
        high = fmax(high, ranges[end].high);
    qsort(ranges + at, end - at, sizeof *ranges, by_chain);
    text_add(seen, "%.4g to %.4g (chain%s", low, high, end - at > 1 ? "s" : "");
    for (size_t c = at; c < end; c++)
        text_add(seen, "%s %zu", c > at ? "," : "", ranges[c].chain + 1);
    text_add(seen, ")");
    return end;
}

static void name_groups(const evidence *e, size_t j, size_t groups, range *ranges, text *seen)
{
    size_t at = 0;
    groups_of(e->r, j, ranges);
    text_add(seen, "The chains sit in separate places and none went from one to another: ");
    text_name(seen, e->parameters[j].name);
    text_add(seen, " is in ");
    for (size_t g = 0; g < groups && g < NAMED_MAX; g++) {
        text_add(seen, "%s", g ? ", " : "");
        at = name_group(e->r, ranges, at, seen);
    }
    if (groups > NAMED_MAX) text_add(seen, " and %zu more", groups - NAMED_MAX);
}

bool separate_modes(const evidence *e, text *seen)
{
    const result *r = e->r;
    size_t max_groups = 1, worst = 0;
    if (r->chains < 2 || r->draws < DRAWS_MIN) return false;
    range *ranges = calloc(r->chains, sizeof *ranges);
    if (!ranges) {
        seen->failed = true;
        return false;
    }
    for (size_t j = 0; j < r->dim; j++) {
        size_t groups = groups_of(r, j, ranges);
        if (groups > max_groups) max_groups = groups, worst = j;
    }
    if (max_groups > 1) name_groups(e, worst, max_groups, ranges, seen);
    free(ranges);
    return max_groups > 1;
}
