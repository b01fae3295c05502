/* What is reported of effects in the place of their coordinates: where a term has three and more, correlations in the
 * place of those given earlier effects,
 *
 *   cor_ij = L_i.L_j / (|L_i| |L_j|),   L the factor of spread.h.                                   (1)
 *
 * Under the law LKJ all correlations of a term have the same law, which is that of those with its first effect: these
 * are coordinates. */
#include "base/dense.h"
#include "mixed/mixed.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const char *effect_name(const mixed *m, const spread_coordinate *c, size_t effect)
{
    return m->groups->term[c->term].names[effect - m->shape.begin[c->row]];
}

void spread_name(const mixed *m, const spread_coordinate *c, const char *before, size_t size,
                 char *text)
{
    const char *group = m->groups->factor[m->groups->term[c->term].factor].name;
    const char *own = effect_name(m, c, c->row);
    if (c->against == c->row)
        snprintf(text, size, "sd_%s__%s", group, own);
    else
        snprintf(text, size, "%scor_%s__%s__%s", before, group, effect_name(m, c, c->against),
                 own);
}

bool spread_is_partial(const mixed *m, const spread_coordinate *c)
{
    return c->against < c->row && c->against > m->shape.begin[c->row];
}

/* The coordinate of the same row's correlation with the first effect of the term. */
static size_t with_first(const mixed *m, size_t j)
{
    const spread_coordinate *of = m->shape.of;
    size_t a = j - m->data->d, row = of[a].row;
    while (of[a].row == row && of[a].against > m->shape.begin[row]) a--;
    return m->data->d + a;
}

bool mixed_derived(const void *self, size_t j, model_derived *out)
{
    const mixed *m = self;
    if (j < m->data->d || j >= m->aux) return false;
    if (!spread_is_partial(m, &m->shape.of[j - m->data->d])) return false;
    *out = (model_derived){.effect = false, .alike = with_first(m, j)};
    return true;
}

void mixed_derived_name(const void *self, size_t j, size_t size, char *text)
{
    const mixed *m = self;
    spread_name(m, &m->shape.of[j - m->data->d], "", size, text);
}

void mixed_derive(const void *self, const double *w, size_t first, size_t count, double *out)
{
    const mixed *m = self;
    effect_spread at;
    spread_at(&m->shape, w + m->data->d, false, &at);
    for (size_t i = 0; i < count; i++) {
        model_derived of;
        if (!mixed_derived(m, first + i, &of)) continue;
        const spread_coordinate *c = &m->shape.of[first + i - m->data->d];
        const double *a = at.factor[c->row], *b = at.factor[c->against];
        out[i] = dot(EFFECTS_A_LEVEL, a, b) /
                 sqrt(dot(EFFECTS_A_LEVEL, a, a) * dot(EFFECTS_A_LEVEL, b, b));
    }
}
