/* A factor is nested in another where no level of it meets two of the other. Rows lie by the outermost of a chain of
 * such, so that all of the chain is integrated over; effects of factors that are in no chain with it are coordinates,
 * and so are those of an outermost factor with few levels: they cost less so, and what is then outermost has more groups
 * to draw batches from. Of all chains that with the most levels is taken. */
#include "ingest/design/nesting.h"

#include <stdlib.h>
#include <string.h>

#define FEW_LEVELS  ((size_t)30)
#define FACTORS_MAX ((size_t)32)
#define NONE        SIZE_MAX

typedef struct {
    const row_groups *r;
    uint32_t *const *code;
    size_t n;
    uint32_t *parent; /* room: levels of any factor */
} table;

/* Is every level of `inner` within one of `outer`? */
static bool is_within(const table *t, size_t inner, size_t outer)
{
    const uint32_t *in = t->code[inner], *out = t->code[outer];
    if (t->r->factor[inner].levels < t->r->factor[outer].levels) return false;
    memset(t->parent, 0xff, t->r->factor[inner].levels * sizeof *t->parent);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t *parent = &t->parent[in[i]];
        if (*parent == UINT32_MAX)
            *parent = out[i];
        else if (*parent != out[i])
            return false;
    }
    return true;
}

/* Best chains that end with each factor: their levels, and the factor before. */
typedef struct {
    size_t levels[FACTORS_MAX], before[FACTORS_MAX];
} chains;

static void extend(const table *t, size_t f, const size_t *order, size_t known, chains *c)
{
    size_t own = t->r->factor[f].levels;
    c->levels[f] = own;
    c->before[f] = NONE;
    for (size_t k = 0; k < known; k++) {
        size_t outer = order[k];
        bool worth = t->r->factor[outer].levels > FEW_LEVELS;
        if (worth && c->levels[outer] + own > c->levels[f] && is_within(t, f, outer)) {
            c->levels[f] = c->levels[outer] + own;
            c->before[f] = outer;
        }
    }
}

/* Factors by levels, fewest first. */
static void sort(const row_groups *r, size_t *order)
{
    for (size_t f = 0; f < r->factors; f++) {
        size_t at = f;
        for (; at > 0 && r->factor[order[at - 1]].levels > r->factor[f].levels; at--)
            order[at] = order[at - 1];
        order[at] = f;
    }
}

static void take_chain(row_groups *r, const chains *c, size_t last)
{
    size_t length = 0, chain[FACTORS_MAX];
    for (size_t f = last; f != NONE; f = c->before[f]) chain[length++] = f;
    if (length > GROUP_NESTED_MAX + 1) length = GROUP_NESTED_MAX + 1; /* inner ones alone */
    r->by = chain[length - 1];
    r->nested = length - 1;
    for (size_t k = 0; k + 1 < length; k++) r->nested_factor[k] = chain[length - 2 - k];
}

sbps_status nesting_find(row_groups *r, uint32_t *const *code, size_t n, sbps_error *err)
{
    size_t order[FACTORS_MAX] = {0}, max_levels = 0, last;
    chains c;
    if (r->factors > FACTORS_MAX)
        return fail(err, SBPS_BAD_ARG, "groups by %zu factors; at most %zu can be told apart",
                    r->factors, FACTORS_MAX);
    for (size_t f = 0; f < r->factors; f++)
        if (r->factor[f].levels > max_levels) max_levels = r->factor[f].levels;
    const table t = {r, code, n, malloc(max_levels * sizeof *t.parent)};
    if (!t.parent) return fail_memory(err);
    sort(r, order);
    last = order[0];
    for (size_t k = 0; k < r->factors; k++) {
        extend(&t, order[k], order, k, &c);
        if (c.levels[order[k]] >= c.levels[last]) last = order[k];
    }
    take_chain(r, &c, last);
    free(t.parent);
    return SBPS_OK;
}
