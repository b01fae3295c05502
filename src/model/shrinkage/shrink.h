/* Regressions whose weights are shrunk by scales of their own, which are coordinates beside them:
 *
 *   weight_j ~ N(0, 1/p_j),   p_j a function of log scales common to many weights and of one of weight j.   (1)
 *
 * Horseshoe, regularised: common tau and slab c, local lambda_j,
 *
 *   p_j = 1/c^2 + 1/(tau sigma lambda_j)^2                                                                 (2)
 *
 * with sigma = 1 where the regression has none. Coordinates: log tau, log 1/c^2, log lambda_j.
 * R2-D2: with gamma variables a, b and g_j, R2 = a/(a + b) is a beta variable and the shares g_j/sum g those of a
 * Dirichlet's,
 *
 *   1/p_j = (sigma/sd_j)^2 (a/b) g_j/sum g                                                                 (3)
 *
 * with sd_j that of the column. Coordinates: log a, log b, log g_j.
 *
 * Where rows say much of a weight, they and not its scale say where it is, and where they say little the other way
 * round. With h_j and b_j the precision and the place that rows give it by themselves, the coordinate of a weight is its
 * standard z in the law that would have if this was all that rows say,
 *
 *   weight = v h b + sqrt(v) z,   v = 1/(h + p),                                                           (4)
 *
 * which is z/sqrt(p) for h = 0. Any h and b give the same posterior. Its density in z is that of (1) times sqrt(v), of
 * which the normal one of z is the prior of the coordinate and
 *
 *   (log p + log v - p weight^2 + z^2)/2                                                                   (5)
 *
 * is what the model adds. An intercept whose prior is at the means of the columns has that for its coordinate. */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include "model/likelihood/model.h"
#include "model/prior/prior_shrinkage.h"

/* Weights that share a prior. */
typedef struct {
    prior prior;
    size_t count;
    size_t *column; /* of each */
    size_t first;   /* coordinate: two common scales, then one of each weight */
} shrink_block;

typedef struct shrink_shape {
    const model_kind *of; /* the regression */
    shrink_block *block;
    size_t blocks;
    double *row_precision; /* d: h of (4) */
    double *place;         /* d: h b */
    double *begin;         /* of the regression's coordinates: where a search may begin */
    bool at_means;         /* the intercept's prior is of the predictor there */
} shrink_shape;

/* All of so many weights, of none so far. Give it back unless a model has taken it. */
shrink_shape *shrink_shape_create(const model_kind *of, size_t d, size_t blocks);
void shrink_shape_destroy(shrink_shape *s);

/* The model of such a regression; its open takes shape->shrunk. */
model_kind shrink_kind(const model_kind *of);
/* Of an opened one: prior of a coordinate, given those of the regression's. */
prior shrink_prior(const void *self, size_t j, const prior *of);
/* The same as it is told. */
prior shrink_reported_prior(const void *self, size_t j, const prior *of);

#endif
