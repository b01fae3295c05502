/* The contribution of one group to gradient and Hessian. For the files of this folder. */
#ifndef MODEL_GROUP_EXPAND_H
#define MODEL_GROUP_EXPAND_H

#include "model/mixed/group_view.h"

/* Doubles of scratch that group_expand needs. */
size_t expand_scratch(const mixed *m);
/* After group_value, for a view begun with second derivatives: adds `factor` times the gradient
 * of log m and the lower triangle of its Hessian, dim * dim. */
void group_expand(group_view *v, double factor, double *scratch, double *gradient,
                  double *hessian);

#endif
