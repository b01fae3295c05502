/* Effects of groups given phi: their number, names and draws. */
#ifndef MODEL_GROUP_EFFECTS_H
#define MODEL_GROUP_EFFECTS_H

#include "core/rng.h"
#include "model/mixed/mixed.h"

/* The number of effects of group g, over all terms, with those of levels nested in it. */
size_t mixed_effects(const void *self, size_t g);
/* The largest number of effects over all groups, for buffers. */
size_t mixed_effects_max(const void *self);
/* The name "r_GROUP[level,NAME]" of effect a of group g. */
void mixed_effect_name(const void *self, size_t g, size_t a, size_t size, char *text);
/* Lists the groups in the order of their levels; room for as many as there are levels. */
void mixed_by_level(const void *self, size_t *groups);

/* Draws the effects of groups at given points phi. */
typedef struct effects_sampler effects_sampler;

/* Accuracy of a group's draws: the root mean square, at some draws, of log p by the group's
 * polynomial minus log p by its rows, in log units. A mean is off by at most this many sds of
 * the effect. NAN: the group was drawn by its rows. */
typedef struct {
    double error;
} effects_accuracy;

/* For `count` points phi, which stay the caller's and must outlive the sampler. */
sbps_status effects_sampler_open(const void *self, size_t count, const double *const *phi,
                                 effects_sampler **out, sbps_error *err);
void effects_sampler_close(effects_sampler *p);   /* NULL is fine */
size_t effects_scratch(const effects_sampler *p); /* doubles */
/* Draws the effects of group g at all points: out[a * count + i]. Draws depend on seed and
 * group only, so that groups can be drawn in any order and by several threads. */
effects_accuracy effects_draw(const effects_sampler *p, size_t g, uint64_t seed,
                              double *scratch, double *out);

/* ---- for the files of this folder ---- */

/* Draws q numbers of a multivariate t; returns minus the log of their density. */
double draw_t(rng *r, size_t q, double *t);
/* The mean, and the Cholesky factor (q * q) of the covariance, of places with these weights.
 * False: the covariance is not positive definite. */
bool node_moments(size_t q, size_t points, const double *weight, const double *place,
                  double *mean, double *factor);

#endif
