/* The effects of groups, given phi. */
#ifndef MIXED_EFFECTS_H
#define MIXED_EFFECTS_H

#include "mixed/mixed.h"

size_t mixed_effects(const void *self); /* of a level, over all terms */
/* Doubles of scratch that drawing needs. */
size_t mixed_effects_scratch(const void *self);
/* Effects of group g at `count` points phi, dim numbers each: out[i * effects + a]. The seed and the group alone say
 * which. */
void mixed_draw_effects(const void *self, size_t g, uint64_t seed, size_t count,
                        const double *const *phi, double *scratch, double *out);
/* "r_GROUP[level,NAME]" of group g's effect a. */
void mixed_effect_name(const void *self, size_t g, size_t a, size_t size, char *text);
/* Groups in the order of their levels; room for as many as there are levels. */
void mixed_by_level(const void *self, size_t *groups);

#endif
