/* What one group adds to gradient and Hessian. For the files of this folder. */
#ifndef MODEL_GROUP_EXPAND_H
#define MODEL_GROUP_EXPAND_H

#include "model/mixed/marginal.h"

size_t expand_scratch(const mixed *m);
/* After group_value, of a view begun with second derivatives: gradient and the lower triangle of the Hessian of
 * log m, dim*dim, times factor, are added. */
void group_expand(group_view *v, double factor, double *scratch, double *gradient,
                  double *hessian);

#endif
