/* Regressions with shrinkage priors: every weight has a scale of its own, and the scales are
 * coordinates,
 *
 *   weight_j ~ N(0, 1/p_j),   p_j a function of common log scales and of one log scale of j.(1)
 *
 * Regularised horseshoe, with global scale tau, slab c and local scales lambda_j:
 *
 *   p_j = 1/c^2 + 1/(tau sigma lambda_j)^2                                                  (2)
 *
 * where sigma is 1 if the regression has none. Coordinates: log tau, log 1/c^2, log lambda_j.
 *
 * R2-D2, with gamma variables a, b and g_j, so that R2 = a/(a + b) has a beta and g_j/sum g a
 * Dirichlet distribution:
 *
 *   1/p_j = (sigma/sd_j)^2 (a/b) g_j/sum g                                                  (3)
 *
 * where sd_j is the sd of the column. Coordinates: log a, log b, log g_j.
 *
 * The coordinate of a weight is a standardised one. If the rows determine a weight well, the
 * weight itself would be a good coordinate; if not, weight sqrt(p_j). With h_j the precision
 * that the rows alone give a weight, and b_j the value, the coordinate z is the standard score
 * under the normal approximation that combines both:
 *
 *   weight = v h b + sqrt(v) z,   v = 1/(h + p),                                            (4)
 *
 * which is z/sqrt(p) for h = 0. The posterior is the same for any h and b. The density of z is
 * that of (1) times sqrt(v). The prior of the coordinate is the standard normal of z, and the
 * model adds the rest of the log density,
 *
 *   (log p + log v - p weight^2 + z^2)/2                                                    (5)
 *
 * An intercept with a prior at the column means has the predictor there as its coordinate. */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include "model/likelihood/model.h"
#include "model/prior/prior_shrinkage.h"

/* Weights that share a prior. Their scales are 2 + count coordinates from `first` on: two
 * common ones, then one for each weight. A block without weights has none. */
typedef struct {
    prior prior;
    size_t count;
    size_t *column; /* of each weight; room for all columns */
    size_t first;   /* set by the model's open */
} shrink_block;

/* What the model of a regression with shrinkage needs besides its rows. The creator fills
 * it. */
typedef struct shrink_shape {
    const model_kind *of; /* the regression; borrowed */
    shrink_block *block;
    size_t blocks;
    double *row_precision; /* by column: h of (4) */
    double *place;         /* by column: h b */
    double *begin;         /* by coordinate of the regression: where the search begins */
    bool at_means;         /* the intercept's prior is that of the predictor at column means */
} shrink_shape;

/* A shape with `blocks` blocks without weights, h = 0, for d columns; NULL: no memory. The
 * caller destroys it, unless open has taken it over. */
shrink_shape *shrink_shape_create(const model_kind *of, size_t d, size_t blocks);
void shrink_shape_destroy(shrink_shape *s); /* NULL is fine */

/* The model of such a regression. Its open needs shape->shrunk and, on success, owns it. */
model_kind shrink_kind(const model_kind *of);
/* The prior of coordinate j of an opened model; `of` has the priors of the regression's
 * coordinates. */
prior shrink_prior(const void *self, size_t j, const prior *of);
/* As shrink_prior, but for a shrunk weight the prior that the user chose. */
prior shrink_reported_prior(const void *self, size_t j, const prior *of);

#endif
