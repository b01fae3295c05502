/* What happens to the rows when w moves along a direction: for regressions. */
#ifndef POSTERIOR_JOURNEY_H
#define POSTERIOR_JOURNEY_H

#include "posterior/posterior.h"

typedef struct {
    double largest;     /* max |x_i.v| */
    double objection;   /* max of -sign(d log p/d eta) x_i.v */
    double mean_square; /* of x_i.v */
} journey;

sbps_status journey_take(const posterior *u, const double *w, const double *v, journey *out,
                         sbps_error *err);
/* Does a row object by more than `rounding` of its own terms, the sum of |x_ij v_j|? Beside one cell of 1e10
 * the objections of all other rows look like nothing, and yet they hold the weight. */
sbps_status journey_objected(const posterior *u, const double *w, const double *v,
                             double rounding, bool *out, sbps_error *err);

#endif
