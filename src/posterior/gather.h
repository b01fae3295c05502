/* What a run wants of every row at its reference point, gathered on the way of the sums over rows that find
 * the point: the numbers of a control variate, the rows' influence and reach. Of models that are given w itself the sums are all there is. */
#ifndef POSTERIOR_GATHER_H
#define POSTERIOR_GATHER_H

#include "posterior/control.h"
#include "posterior/influence.h"

typedef struct gathering {
    const posterior *u;
    bool whole;          /* every row was seen, at control->w */
    control *control;    /* of the second order; see control_reduce */
    influence_meter *in; /* NULL: not wanted */
    double *factor;      /* dim*dim: of a Hessian near the reference */
    double *sum;         /* what the meter sums */
} gathering;

/* to: where influence goes, NULL: it is not wanted. Give back with gathering_close, also after a failure. */
sbps_status gathering_open(const posterior *u, const influence_target *to, gathering **out,
                           sbps_error *err);
void gathering_close(gathering *g);

/* posterior_expand at w that gathers on its way, unless `near`, a Hessian of the neighbourhood, is not positive
 * definite. What was gathered before is forgotten. */
sbps_status gathering_expand(gathering *g, const double *w, const double *near,
                             const expansion *out, sbps_error *err);

#endif
