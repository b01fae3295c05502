/* What one group says about phi: (1) of mixed.h by quadrature. For the files of this folder. */
#ifndef MODEL_MARGINAL_H
#define MODEL_MARGINAL_H

#include "model/mixed/group_view.h"

/* log m_g, and the shares of its nodes. */
double group_value(group_view *v, size_t g);
/* After group_value: slope along u; gradient, times factor, added to out. */
double group_slope(group_view *v);
void group_gradient(group_view *v, double factor, double *out);

#endif
