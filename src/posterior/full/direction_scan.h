/* What happens to the rows when w moves along a direction: for regressions. */
#ifndef POSTERIOR_DIRECTION_SCAN_H
#define POSTERIOR_DIRECTION_SCAN_H

#include "posterior/full/posterior.h"

typedef struct {
    double largest;        /* max |x_i.v| */
    double opposing_slope; /* max of -sign(d log p/d eta) x_i.v */
    double mean_square;    /* of x_i.v */
} direction_scan;

sbps_status direction_scan_run(const posterior *u, const double *w, const double *v,
                               direction_scan *out, sbps_error *err);
/* Does a row object by more than `rounding` of its own terms, the sum of |x_ij v_j|? Beside one cell of 1e10
 * the objections of all other rows look like nothing, and yet they hold the weight. */
sbps_status direction_scan_opposed(const posterior *u, const double *w, const double *v,
                                   double rounding, bool *out, sbps_error *err);

#endif
