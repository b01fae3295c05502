/* Centring of the columns of random slopes. In a term of correlated effects with a constant,
 * (1 + z | g), every slope's column is taken minus its mean over rows, and default priors are
 * those of the effects v of the centred columns. With mean_j that of column j, the effects at
 * z = 0 are
 *
 *   u = T v:   u_0 = v_0 - sum_j mean_j v_j,   u_j = v_j                                (1)
 *   cov u = T (cov v) T',   factors L_u = T L_v, where L_u is not triangular            (2)
 *
 * and give the same predictor. v is sampled, u is reported. A constant column is not
 * centred. */
#ifndef MODEL_CENTRING_H
#define MODEL_CENTRING_H

#include "model/mixed/mixed.h"

/* Sets the means of all columns of a model whose effects have their shapes already. */
void centre_effects(mixed *m);
/* Does an effect at z = 0 differ from the sampled one? */
bool centring_moves(const spread_shape *shape, const effect_column *column, size_t effect);
/* Replaces the factor L_v by L_u: (2). */
void factor_at_zero(const spread_shape *shape, const effect_column *column,
                    double (*factor)[LEVEL_EFFECTS_MAX]);
/* Replaces v by u: (1), for `count` draws of each effect, effect after effect. */
void effects_at_zero(const spread_shape *shape, const effect_column *column, size_t count,
                     double *effects);

#endif
