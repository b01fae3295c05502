/* Numbers as levels: the distinct values, in increasing order, called as R writes numbers. */
#include "formula/transform.h"

#include "formula/number.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *value; /* increasing */
    size_t count;
} number_levels;

static sbps_status factor_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", NULL};
    *self = pool_take(c->pool, sizeof(number_levels));
    return *self ? call_match(c, formal, given) : fail_memory(c->err);
}

static sbps_status factor_fit(const call *c, void *self, double *value, size_t n)
{
    number_levels *l = self;
    size_t count = 0;
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
    if (out && l->count > 0) memcpy(out, l->value, l->count * sizeof *out);
    return l->count;
}

static sbps_status factor_recall(const call *c, void *self, const double *learned, size_t n)
{
    number_levels *l = self;
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

static size_t factor_level(const void *self, double x)
{
    const number_levels *l = self;
    const double *found =
        l->count ? bsearch(&x, l->value, l->count, sizeof x, by_number) : NULL;
    return found ? (size_t)(found - l->value) : SIZE_MAX;
}

static const char *factor_level_name(const void *self, size_t level, pool *p)
{
    number_shown s = number_as_written(((const number_levels *)self)->value[level], 15);
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
    .level = factor_level,
    .level_name = factor_level_name,
};
