/* Priors of many coefficients together: the regularised horseshoe (Piironen, Vehtari 2017) and R2-D2 (Zhang,
 * Naughton, Bondell, Reich 2022). */
#ifndef MODEL_PRIOR_SHRINKAGE_H
#define MODEL_PRIOR_SHRINKAGE_H

#include "model/prior/prior.h"

/* Numbers of each. */
enum {
    HORSESHOE_DF,
    HORSESHOE_GLOBAL,
    HORSESHOE_GLOBAL_DF,
    HORSESHOE_SLAB,
    HORSESHOE_SLAB_DF,
    HORSESHOE_NUMBERS
};
enum { R2D2_MEAN, R2D2_PRECISION, R2D2_SPLIT, R2D2_NUMBERS };

extern const prior_kind prior_horseshoe, prior_r2d2;

/* Is one of them spelled so? */
bool shrinkage_names(const char *name);
/* As prior_parse: `word` is its name and `numbers` what is behind. */
sbps_status shrinkage_parse(const char *text, const char *name, const char *numbers, prior *out,
                            sbps_error *err);

/* Is it a prior of many? It has no density of one number then. */
static inline bool prior_shrinks(const prior *p)
{
    return p->kind && p->kind->usual;
}

#endif
