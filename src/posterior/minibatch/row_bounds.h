/* Bounds on what the rows add beyond their Taylor polynomials of second order at the
 * reference of a control variate, and rows drawn by these bounds. Immutable, shared by all
 * chains; samplers use them through bounds.h. */
#ifndef POSTERIOR_ROW_BOUNDS_H
#define POSTERIOR_ROW_BOUNDS_H

#include "posterior/minibatch/bounds.h"

struct control;
struct posterior;
struct row_reach;

typedef struct row_bounds row_bounds;

/* Creates the bounds. cv: of second order; samplers move in z, w = reference + A z, and map
 * is the transpose of A. white: A A' is the posterior covariance, without which the mean is
 * not known. known: reach at the same reference, if it was gathered, or NULL: then it takes
 * a pass over the rows. */
sbps_status row_bounds_create(const struct posterior *target, const struct control *cv,
                              row_map map, bool white, const struct row_reach *known,
                              row_bounds **out, sbps_error *err);
void row_bounds_destroy(row_bounds *r); /* Frees r; NULL is fine. */

/* Expected cost for a pair of posterior draws. */
typedef struct {
    double drawn; /* rows drawn if the number were not limited to the table's rows */
    double rows;  /* rows evaluated */
    double skew;  /* see bounds.h */
} pair_cost;

/* That cost for d parameters and n rows. */
pair_cost row_bounds_cost(const row_bounds *r, size_t d, size_t n);

#endif
