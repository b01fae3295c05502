/* Mean and population sd of the columns of a table. */
#ifndef DATA_MOMENTS_H
#define DATA_MOMENTS_H

#include "base/status.h"

/* x has n >= 1 rows of d <= stride doubles. sd is exactly 0 for a column of equal values. */
sbps_status column_moments(size_t n, size_t d, size_t stride, const double *x, double *mean,
                           double *sd, sbps_error *err);

#endif
