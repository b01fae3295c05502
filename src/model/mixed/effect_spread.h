/* The covariance of a level's effects, as a factor and its derivatives by the coordinates.
 *
 *   S = L L',   L = diag(sd) C,   C the Cholesky factor of the correlations:
 *   C_ij = p_ij prod_(k<j) sqrt(1 - p_ik^2), j < i;   C_ii = prod_(k<i) sqrt(1 - p_ik^2)             (1)
 *
 * with coordinates log sd_i and atanh p_ij. p_ij is the correlation of effects i and j given those before j: under
 * the law LKJ(eta) these are independent, p_ij with density (1 - p^2)^(eta - 1 + (q - 2 - j)/2), j from 0. Lewandowski,
 * Kurowicka, Joe (2009), Journal of Multivariate Analysis 100, 1989-2001. Each coordinate moves one row of L. */
#ifndef MODEL_EFFECT_SPREAD_H
#define MODEL_EFFECT_SPREAD_H

#include "table/row_groups.h"
#include <stdbool.h>
#include <stddef.h>

#define LEVEL_EFFECTS_MAX GROUP_EFFECTS
#define SPREAD_MAX        (LEVEL_EFFECTS_MAX * (LEVEL_EFFECTS_MAX + 1) / 2)

/* One coordinate: which row of L it moves, and by what. */
typedef struct {
    size_t term;    /* of the formula */
    size_t row;     /* of L */
    size_t against; /* column of L; its own row: the coordinate is log sd */
} spread_coordinate;

typedef struct {
    size_t effects, count;
    spread_coordinate of[SPREAD_MAX];
    size_t begin[LEVEL_EFFECTS_MAX]; /* first effect of the term that each row belongs to */
} spread_shape;

typedef struct {
    double factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX]; /* L */
    double first[SPREAD_MAX][LEVEL_EFFECTS_MAX];         /* d row / d a */
    double second[SPREAD_MAX][SPREAD_MAX]
                 [LEVEL_EFFECTS_MAX]; /* of pairs that move the same row */
} effect_spread;

/* At coordinates x, `count` of them. */
void spread_at(const spread_shape *shape, const double *x, bool with_second,
               effect_spread *out);

#endif
