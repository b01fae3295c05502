/* The effects of groups, given phi. */
#ifndef MIXED_EFFECTS_H
#define MIXED_EFFECTS_H

#include "mixed/mixed.h"

/* Of a group: those of its level, over all terms, and of levels nested in it; and the most that one has. */
size_t mixed_effects(const void *self, size_t g);
size_t mixed_effects_most(const void *self);
/* Doubles of scratch that drawing needs. */
size_t mixed_effects_scratch(const void *self);
/* What is kept of each phi, so that not every group makes it anew: doubles that it takes, and it itself. */
size_t mixed_effects_point(const void *self);
void mixed_effects_see(const void *self, const double *phi, double *scratch, double *point);
/* Effects of group g at `count` points phi, dim numbers each: out[i * effects + a]. The seed and the group alone say
 * which. `points` were seen there. */
void mixed_draw_effects(const void *self, size_t g, uint64_t seed, size_t count,
                        const double *const *phi, const double *points, double *scratch,
                        double *out);
/* "r_GROUP[level,NAME]" of group g's effect a. */
void mixed_effect_name(const void *self, size_t g, size_t a, size_t size, char *text);
/* Groups in the order of their levels; room for as many as there are levels. */
void mixed_by_level(const void *self, size_t *groups);

#endif
