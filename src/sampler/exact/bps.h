/* The segment that bps and noisy-bps share; they differ in the gradient at a bounce. */
#ifndef SAMPLER_BPS_H
#define SAMPLER_BPS_H

#include "sampler/core/sampler.h"
#include "sampler/exact/exact_arrival.h"

typedef struct {
    rng random;
    event end; /* that ended the last segment */
    cell_lengths thinning;
    double slope; /* G at that event, along the old velocity */
} bps_state;

/* Starts a chain at centre + p. */
void bps_start(sampler *s, const double *p, rng random);
/* Advances to the next bounce or refreshment, with noise of sd `noise` on every component of
 * the gradient. At a bounce s->gradient is the exact gradient and the caller reflects the
 * velocity; a refreshment is complete. Returns the time; sets p_next. */
double bps_advance(sampler *s, double noise);
/* Describes the last segment, after the reflection. */
segment bps_segment(const sampler *s, double dt);
/* Checks a restored state. */
void bps_inspect(const sampler *s, inspection *x);

#endif
