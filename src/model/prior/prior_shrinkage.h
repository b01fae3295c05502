/* Priors of many coefficients together: the regularised horseshoe (Piironen, Vehtari 2017) and
 * R2-D2 (Zhang, Naughton, Bondell, Reich 2022). They are implemented by
 * model/shrinkage/shrink.h; here are their names, numbers and text. */
#ifndef MODEL_PRIOR_SHRINKAGE_H
#define MODEL_PRIOR_SHRINKAGE_H

#include "model/prior/prior.h"

/* Indices into theta. */
enum {
    HORSESHOE_DF,        /* of the local scales */
    HORSESHOE_GLOBAL,    /* scale of the global scale */
    HORSESHOE_GLOBAL_DF, /* its degrees of freedom */
    HORSESHOE_SLAB,      /* scale of the slab */
    HORSESHOE_SLAB_DF,   /* its degrees of freedom */
    HORSESHOE_NUMBERS
};
/* Mean and precision of the beta prior of R2; concentration of the Dirichlet prior. */
enum { R2D2_MEAN, R2D2_PRECISION, R2D2_SPLIT, R2D2_NUMBERS };

extern const prior_kind prior_horseshoe, prior_r2d2;

/* Is this a name of one of them? */
bool shrinkage_names(const char *name);
/* As prior_parse, where `name` is one of their names and `numbers` the text after it. */
sbps_status shrinkage_parse(const char *text, const char *name, const char *numbers, prior *out,
                            sbps_error *err);

/* Is p a prior of many coefficients? If so, it has no density of one number. */
static inline bool prior_shrinks(const prior *p)
{
    return p->kind && p->kind->usual;
}

#endif
