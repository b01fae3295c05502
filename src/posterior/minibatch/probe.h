/* Mini-batch noise, measured where a posterior is: at points spread like it, along a direction u at each,
 * in units of its own curvature u'Hu. */
#ifndef POSTERIOR_PROBE_H
#define POSTERIOR_PROBE_H

#include "posterior/minibatch/minibatch.h"

#define PROBE_POINTS ((size_t)64)

typedef struct {
    arena memory;
    minibatch u;
    /* to be filled after opening: */
    double *points;     /* PROBE_POINTS * dim: posterior draws, or what stands for them */
    double *directions; /* as many */
    double *natural;    /* PROBE_POINTS: u'Hu of each */
    double *scratch;    /* dim, the caller's own */
} probe;

sbps_status probe_open(probe *p, const posterior *target, sbps_error *err);
void probe_close(probe *p);

/* Mean over the points of N^2 Var_i / u'Hu, Var_i of one row's slope: divided by n it is c^2 / u'Hu of
 * batches of n rows. The same `batches` meet every control variate with the same rows. */
double probe_noise(probe *p, const control *cv, rng batches);
/* Root mean square over some points of every row's slope in units of sqrt(u'Hu); n numbers. */
sbps_status probe_influence(probe *p, const control *cv, rng batches, float *influence,
                            sbps_error *err);

#endif
