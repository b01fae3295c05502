/* Bounds of what rows are beyond their Taylor polynomials of the second order at the reference of a control
 * variate, and rows drawn by them. Immutable, shared by all chains; samplers meet it in bounds.h. */
#ifndef POTENTIAL_ROW_BOUNDS_H
#define POTENTIAL_ROW_BOUNDS_H

#include "posterior/control.h"
#include "potential/bounds.h"

typedef struct row_bounds row_bounds;

/* cv: of the second order, where samplers move in z with w = its reference + A z, map being A's. white: A A'
 * is the covariance there, without which the mean is not known. */
sbps_status row_bounds_create(const posterior *target, const control *cv, row_map map,
                              bool white, row_bounds **out, sbps_error *err);
void row_bounds_destroy(row_bounds *r); /* NULL is fine */

#endif
