/* What a run wants of every row at its reference point, gathered on the way of the sums over rows that find
 * the point: the numbers of a control variate, the rows' influence and reach. Of models that are given w itself the sums are all there is. */
#ifndef POSTERIOR_ROW_CACHE_H
#define POSTERIOR_ROW_CACHE_H

#include "posterior/full/control.h"
#include "posterior/full/influence.h"

typedef struct row_cache {
    const posterior *u;
    bool whole;          /* every row was seen, at control->w */
    control *control;    /* of the second order; see control_reduce */
    influence_meter *in; /* NULL: not wanted */
    double *factor;      /* dim*dim: of a Hessian near the reference */
    double *sum;         /* what the meter sums */
} row_cache;

/* to: where influence goes, NULL: it is not wanted. Give back with row_cache_close, also after a failure. */
sbps_status row_cache_open(const posterior *u, const influence_target *to, row_cache **out,
                           sbps_error *err);
void row_cache_close(row_cache *g);

/* posterior_expand at w that gathers on its way, unless `near`, a Hessian of the neighbourhood, is not positive
 * definite. What was gathered before is forgotten. */
sbps_status row_cache_expand(row_cache *g, const double *w, const double *near,
                             const expansion *out, sbps_error *err);

#endif
