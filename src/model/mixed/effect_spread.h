/* The covariance S of the effects of one level, as a factor and its derivatives by coordinates:
 *
 *   S = L L',   L = diag(sd) C,   C the Cholesky factor of the correlations,
 *   C_ij = p_ij prod_(k<j) sqrt(1 - p_ik^2), j < i;   C_ii = prod_(k<i) sqrt(1 - p_ik^2)   (1)
 *
 * with coordinates log sd_i and atanh p_ij. p_ij is the partial correlation of effects i and j
 * given those before j. Under the distribution LKJ(eta) these are independent, p_ij with
 * density proportional to (1 - p^2)^(eta - 1 + (q - 2 - j)/2), j from 0. Each coordinate moves
 * one row of L. Lewandowski, Kurowicka, Joe (2009), Generating random correlation matrices
 * based on vines and extended onion method, Journal of Multivariate Analysis 100, 1989-2001. */
#ifndef MODEL_EFFECT_SPREAD_H
#define MODEL_EFFECT_SPREAD_H

#include "table/row_groups.h"
#include <stdbool.h>
#include <stddef.h>

#define LEVEL_EFFECTS_MAX GROUP_EFFECTS /* effects of a level, over all terms */
#define SPREAD_MAX        (LEVEL_EFFECTS_MAX * (LEVEL_EFFECTS_MAX + 1) / 2)

/* One coordinate. */
typedef struct {
    size_t term;    /* of the formula */
    size_t row;     /* of L, which the coordinate moves */
    size_t against; /* column of L for a correlation; equal to row: the coordinate is log sd */
} spread_coordinate;

/* The effects of a level and the coordinates of their covariance. */
typedef struct {
    size_t effects, count;
    spread_coordinate of[SPREAD_MAX];
    size_t begin[LEVEL_EFFECTS_MAX]; /* by row of L: first effect of its term */
} spread_shape;

/* The covariance at one point. */
typedef struct {
    double factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX]; /* L */
    double first[SPREAD_MAX][LEVEL_EFFECTS_MAX];         /* derivative of the row moved */
    /* second derivatives, for pairs that move the same row; the rest is not set */
    double second[SPREAD_MAX][SPREAD_MAX][LEVEL_EFFECTS_MAX];
} effect_spread;

/* Evaluates L and its derivatives at the coordinates x, shape->count of them; second
 * derivatives only if with_second. */
void spread_at(const spread_shape *shape, const double *x, bool with_second,
               effect_spread *out);

#endif
