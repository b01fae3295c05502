/* The effects of groups, given phi. */
#ifndef MODEL_GROUP_EFFECTS_H
#define MODEL_GROUP_EFFECTS_H

#include "model/mixed/mixed.h"

/* Of a group: those of its level, over all terms, and of levels nested in it; and the most that one has. */
size_t mixed_effects(const void *self, size_t g);
size_t mixed_effects_max(const void *self);
/* "r_GROUP[level,NAME]" of group g's effect a. */
void mixed_effect_name(const void *self, size_t g, size_t a, size_t size, char *text);
/* Groups in the order of their levels; room for as many as there are levels. */
void mixed_by_level(const void *self, size_t *groups);

/* From effects as they are sampled to those at z = 0, see centring.h: `count` draws of each effect of group g, effect after
 * effect. */
void group_effects_at_zero(const mixed *m, size_t g, size_t count, double *out);

/* Drawing effects at points phi: effects_draw.c. */
typedef struct effects_sampler effects_sampler;

/* What is said of a group's draws: the root of the mean square of log p by its polynomial less that by its rows, at some
 * draws of its effects; so many of their sds, no more, is a mean off. NAN: it was drawn by rows. */
typedef struct {
    double error;
} effects_accuracy;

/* For `count` points, which stay the caller's. */
sbps_status effects_sampler_open(const void *self, size_t count, const double *const *phi,
                                 effects_sampler **out, sbps_error *err);
void effects_sampler_close(effects_sampler *p);
size_t effects_scratch(const effects_sampler *p); /* doubles */
/* Effects of group g at all points: out[a * count + i]. The seed and the group alone say which. */
effects_accuracy effects_draw(const effects_sampler *p, size_t g, uint64_t seed,
                              double *scratch, double *out);

#endif
