/* What the coordinates of a model of groups are: and what is reported of them. For the files of this folder. */
#ifndef MODEL_MIXED_COORDINATES_H
#define MODEL_MIXED_COORDINATES_H

#include "model/mixed/mixed.h"

/* Which effects a coordinate is of. */
typedef struct {
    const spread_shape *shape; /* NULL: of none */
    const double *unit;
    const effect_column *column;
    const spread_coordinate *of; /* NULL: it is an effect itself, */
    const other_factor *other;   /* of this factor, NULL: rows lie by theirs */
    size_t level, effect;
    size_t spread; /* first coordinate of the shape */
} coordinate_place;

coordinate_place mixed_place(const mixed *m, size_t j);
/* "sd_GROUP__A" or "cor_GROUP__A__B", with a word before it. */
void mixed_spread_name(const mixed *m, const coordinate_place *at, const char *before,
                       size_t size, char *text);
/* A correlation given effects that come before both? */
bool mixed_is_partial(const coordinate_place *at);
/* A standard deviation or correlation of an effect that is reported at z = 0 and sampled at the means? */
bool mixed_is_centred(const coordinate_place *at);
/* Is its prior of effects at the means? Of all correlations of such a term it is. */
bool mixed_at_means(const coordinate_place *at);

/* ---- as model_kind has them ---- */

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

/* sd of a column of z, and its mean; 0 of a constant one. */
double mixed_column_moments(const mixed *m, size_t column, double *mean);
/* sd of a column of z; 1 where it is constant. */
double mixed_column_sd(const mixed *m, size_t column);
/* "FACTOR[level,NAME]", of effect a of a level. */
void mixed_level_name(const mixed *m, const spread_shape *shape, size_t level, size_t a,
                      size_t size, char *text);

#endif
