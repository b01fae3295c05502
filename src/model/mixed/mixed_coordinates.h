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
