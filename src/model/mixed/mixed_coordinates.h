/* The coordinates of a model with group effects: names, priors, starts, and quantities derived
 * from them. For the files of this folder. */
#ifndef MODEL_MIXED_COORDINATES_H
#define MODEL_MIXED_COORDINATES_H

#include "model/mixed/mixed.h"

/* Writes "FACTOR[level,NAME]" for effect a of a level. */
void mixed_level_name(const mixed *m, const spread_shape *shape, size_t level, size_t a,
                      size_t size, char *text);

/* The sd of a column of z over rows, 0 for a constant column, and its mean. */
double mixed_column_moments(const mixed *m, size_t column, double *mean);
/* The sd of a column of z; 1 for a constant column. */
double mixed_column_sd(const mixed *m, size_t column);

/* ---- members of model_kind, where self is a `mixed` ---- */

/* The number of coordinates. */
size_t mixed_dim(const void *self);
/* The name of the coordinate's parameter, "sd_GROUP__A" for a log sd. Prefixes mark coordinates
 * that another quantity is reported for: partial_, centred_, standard_. */
void mixed_name_of(const void *self, size_t j, size_t size, char *text);
/* Scale, unit and default prior of coordinate j. False: it is a weight. */
bool mixed_coordinate(const void *self, size_t j, model_coordinate *out);
/* Default prior of a weight: as in the model of the rows. */
double mixed_prior_sd(const void *self, size_t j);
double mixed_prior_mean(const void *self, size_t j);
/* Is it the intercept of the fixed effects? */
bool mixed_intercept(const void *self, size_t j);
/* Where the search for the mode begins: w has dim numbers. */
void mixed_start(const void *self, double *w);
/* Is another quantity reported in place of coordinate j? If so, fills *out. */
bool mixed_derived(const void *self, size_t j, model_derived *out);
/* Its name. */
void mixed_derived_name(const void *self, size_t j, size_t size, char *text);
/* Values of these quantities at w, for `count` coordinates from `first` on; other entries of
 * out are left unchanged. */
void mixed_derive(const void *self, const double *w, size_t first, size_t count, double *out);

#endif
