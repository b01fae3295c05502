/* factor(): numbers as levels, the distinct values in increasing order or those listed in their
 * order, named as R writes numbers. */
#include "ingest/formula/transform.h"

#include "ingest/formula/number_format.h"
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
