/* The coordinates of a model with group effects: names, priors, starts, and quantities derived
 * from them. For the files of this folder. */
#ifndef MODEL_MIXED_COORDINATES_H
#define MODEL_MIXED_COORDINATES_H

#include "model/mixed/mixed.h"

/* The effects that a coordinate belongs to. */
typedef struct {
    const spread_shape *shape; /* NULL: a weight or auxiliary */
    const double *unit;
    const effect_column *column;
    const spread_coordinate *of; /* NULL: the coordinate is an effect */
    const other_factor *other;   /* the crossed factor; NULL: one that is integrated over */
    size_t level, effect;        /* of an effect */
    size_t spread;               /* first coordinate of the shape */
} coordinate_place;

/* Finds the place of coordinate j. */
coordinate_place mixed_place(const mixed *m, size_t j);
/* Writes `before` and "sd_GROUP__A" or "cor_GROUP__A__B". */
void mixed_spread_name(const mixed *m, const coordinate_place *at, const char *before,
                       size_t size, char *text);
/* Writes "FACTOR[level,NAME]" for effect a of a level. */
void mixed_level_name(const mixed *m, const spread_shape *shape, size_t level, size_t a,
                      size_t size, char *text);
/* Is it a partial correlation, given effects that come before both? */
bool mixed_is_partial(const coordinate_place *at);
/* Is it an sd or correlation that is sampled at the column means and reported at z = 0? */
bool mixed_is_centred(const coordinate_place *at);
/* Is its prior that of effects at the means? So for all correlations of a centred term. */
bool mixed_at_means(const coordinate_place *at);

/* The sd of a column of z over rows, 0 for a constant column, and its mean. */
double mixed_column_moments(const mixed *m, size_t column, double *mean);
/* The sd of a column of z; 1 for a constant column. */
double mixed_column_sd(const mixed *m, size_t column);

/* Members of model_kind. */
size_t mixed_dim(const void *self);
void mixed_name_of(const void *self, size_t j, size_t size, char *text);
bool mixed_coordinate(const void *self, size_t j, model_coordinate *out);
double mixed_prior_sd(const void *self, size_t j);
double mixed_prior_mean(const void *self, size_t j);
bool mixed_intercept(const void *self, size_t j);
void mixed_start(const void *self, double *w);
bool mixed_derived(const void *self, size_t j, model_derived *out);
void mixed_derived_name(const void *self, size_t j, size_t size, char *text);
void mixed_derive(const void *self, const double *w, size_t first, size_t count, double *out);

#endif
