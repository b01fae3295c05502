/* Mean and population sd of the columns of a table. */
#ifndef DATA_MOMENTS_H
#define DATA_MOMENTS_H

#include "data/rows.h"

/* Of n >= 1 rows, d doubles each. sd is exactly 0 for a column of equal values. The same bits on any number
 * of threads. */
sbps_status column_moments(const rows *r, unsigned threads, double *mean, double *sd,
                           sbps_error *err);

#endif
