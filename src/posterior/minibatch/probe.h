/* Mini-batch noise measured over the posterior: at points distributed like it, along a
 * direction u at each, in units of the posterior's curvature u'Hu. */
#ifndef POSTERIOR_PROBE_H
#define POSTERIOR_PROBE_H

#include "posterior/minibatch/minibatch.h"

#define PROBE_POINTS ((size_t)64)

typedef struct {
    arena memory;
    minibatch u;
    /* filled by the caller after opening: */
    double *points;     /* PROBE_POINTS * dim: posterior draws, or an approximation */
    double *directions; /* PROBE_POINTS * dim */
    double *natural;    /* PROBE_POINTS: u'Hu of each */
    double *scratch;    /* dim, for the caller */
} probe;

/* Allocates a probe; close it with probe_close, also after a failure. */
sbps_status probe_open(probe *p, const posterior *target, sbps_error *err);
/* Frees the probe's memory. */
void probe_close(probe *p);

/* Mean over the points of N^2 Var_i / u'Hu, with Var_i the variance of one row's slope:
 * divided by n it is c^2 / u'Hu of batches of n rows. The same `batches` gives every control
 * variate the same rows. */
double probe_noise(probe *p, const control *cv, rng batches);
/* influence (n) = root mean square over some of the points of every row's slope, in units of
 * sqrt(u'Hu). */
sbps_status probe_influence(probe *p, const control *cv, rng batches, float *influence,
                            sbps_error *err);

#endif
