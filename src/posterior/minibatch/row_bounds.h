/* Bounds of what rows are beyond their Taylor polynomials of the second order at the reference of a control
 * variate, and rows drawn by them. Immutable, shared by all chains; samplers meet it in bounds.h. */
#ifndef POSTERIOR_ROW_BOUNDS_H
#define POSTERIOR_ROW_BOUNDS_H

#include "posterior/full/control.h"
#include "posterior/full/influence.h"
#include "posterior/minibatch/bounds.h"

typedef struct row_bounds row_bounds;

/* cv: of the second order, where samplers move in z with w = its reference + A z, map being A's. white: A A'
 * is the covariance there, without which the mean is not known. known: at the same reference, where it was gathered,
 * or NULL: then it is a pass over the rows. */
sbps_status row_bounds_create(const posterior *target, const control *cv, row_map map,
                              bool white, const row_reach *known, row_bounds **out,
                              sbps_error *err);
void row_bounds_destroy(row_bounds *r); /* NULL is fine */

/* Of a pair of points that lie as draws do, on average. */
typedef struct {
    double thrown; /* rows, before more than there are become all of them */
    double rows;   /* looked at */
    double skew;   /* see bounds.h */
} pair_cost;

pair_cost row_bounds_cost(const row_bounds *r, size_t d, size_t n);

#endif
