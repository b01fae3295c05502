/* Centring of the effects of a level. In a term of correlated effects with a constant, (1 + z | g), the slopes' columns
 * are taken less their means over rows, and default priors are of the effects v of these. With mean_j that of column j,
 * the effects at z = 0 are
 *
 *   u = T v:   u_0 = v_0 - sum_j mean_j v_j,   u_j = v_j                                               (1)
 *   cov u = T (cov v) T',   L_u = T L_v   for the factors, of which L_u is not triangular              (2)
 *
 * so that z.u is the same predictor. v is sampled, u is reported. A constant column has no mean taken off. */
#ifndef MODEL_CENTRING_H
#define MODEL_CENTRING_H

#include "model/mixed/mixed.h"

/* Sets the means of all columns of a model whose effects have their shapes already. */
void centre_effects(mixed *m);
/* Is an effect another one at z = 0? */
bool centring_moves(const spread_shape *shape, const effect_column *column, size_t effect);
/* (2), in place. */
void factor_at_zero(const spread_shape *shape, const effect_column *column,
                    double (*factor)[LEVEL_EFFECTS_MAX]);
/* (1), in place: `count` draws of each effect, effect after effect. */
void effects_at_zero(const spread_shape *shape, const effect_column *column, size_t count,
                     double *effects);

#endif
