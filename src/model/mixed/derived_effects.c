/* What is reported of effects in the place of their coordinates: where a term has three and more, correlations in the
 * place of those given earlier effects,
 *
 *   cor_ij = L_i.L_j / (|L_i| |L_j|),   L the factor of spread.h;                                      (1)
 *
 * and effects of other factors in the place of their standards. Under the law LKJ all correlations of a term have the
 * same law, which is that of those with its first effect: these are coordinates. Where columns are centred, sds,
 * correlations and effects are reported at z = 0: (1) with the factor of centring.h, and sd_i = |L_i|. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/centring.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/joint.h"
#include "model/mixed/mixed_coordinates.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The coordinate of the same row's correlation with the first effect of the term. */
static size_t with_first(const coordinate_place *at)
{
    const spread_coordinate *first = at->shape->of, *c = at->of;
    while (c->row == at->of->row && c->against > at->shape->begin[c->row]) c--;
    return at->spread + (size_t)(c - first);
}

bool mixed_derived(const void *self, size_t j, model_derived *out)
{
    coordinate_place at = mixed_place(self, j);
    bool effect = at.shape && !at.of, partial = mixed_is_partial(&at),
         centred = mixed_is_centred(&at);
    if (!effect && !partial && !centred) return false;
    *out = (model_derived){.effect = effect,
                           .alike = effect    ? SIZE_MAX
                                    : partial ? with_first(&at)
                                              : j,
                           .at_means = mixed_at_means(&at)};
    return true;
}

void mixed_derived_name(const void *self, size_t j, size_t size, char *text)
{
    const mixed *m = self;
    coordinate_place at = mixed_place(m, j);
    if (at.of) {
        mixed_spread_name(m, &at, "", size, text);
        return;
    }
    snprintf(text, size, "r_");
    mixed_level_name(m, at.shape, at.level, at.effect, size - 2, text + 2);
}

/* By the factor at z = 0. */
static double spread_value(double (*factor)[LEVEL_EFFECTS_MAX], const spread_coordinate *c)
{
    const double *a = factor[c->row], *b = factor[c->against];
    if (c->row == c->against) return sqrt(dot(LEVEL_EFFECTS_MAX, a, a));
    return dot(LEVEL_EFFECTS_MAX, a, b) /
           sqrt(dot(LEVEL_EFFECTS_MAX, a, a) * dot(LEVEL_EFFECTS_MAX, b, b));
}

/* all: effects of the whole model, where some are standardised together. */
static double effect(const coordinate_place *at, const effect_spread *spread, const double *w,
                     const double *all)
{
    level_point p;
    size_t q = at->shape->effects, first = at->other->first + at->level * q;
    if (all)
        memcpy(p.effect, all + first, q * sizeof *all);
    else
        level_at(at->other, spread, at->level, w + first, false, &p);
    effects_at_zero(at->shape, at->column, 1, p.effect);
    return p.effect[at->effect];
}

static void derive(const mixed *m, const double *w, const double *all, size_t first,
                   size_t count, double *out)
{
    effect_spread spread;
    double factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    const spread_shape *known = NULL;
    for (size_t i = 0; i < count; i++) {
        coordinate_place at = mixed_place(m, first + i);
        model_derived unused;
        if (!mixed_derived(m, first + i, &unused)) continue;
        if (at.shape != known) {
            spread_at(at.shape, w + at.spread, false, &spread);
            memcpy(factor, spread.factor, sizeof factor);
            factor_at_zero(at.shape, at.column, factor);
        }
        known = at.shape;
        out[i] = at.of ? spread_value(factor, at.of) : effect(&at, &spread, w, all);
    }
}

void mixed_derive(const void *self, const double *w, size_t first, size_t count, double *out)
{
    const mixed *m = self;
    double *all = m->blocks ? unset_doubles(m->dim + joint_transform_scratch(m)) : NULL;
    if (!m->blocks || (all && joint_effects(m, w, first, count, all)))
        derive(m, w, all, first, count, out);
    else
        for (size_t i = 0; i < count; i++) out[i] = NAN; /* no memory */
    free(all);
}
