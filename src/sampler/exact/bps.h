/* The flight that bps and noisy-bps share; they differ in what the gradient is at a bounce. */
#ifndef SAMPLER_BPS_H
#define SAMPLER_BPS_H

#include "sampler/core/sampler.h"
#include "sampler/exact/cell_thinning.h"

typedef struct {
    rng random;
    event end; /* that ended the last segment */
    cell_lengths thinning;
    double slope; /* G at that event, along the old velocity */
} bps_state;

void bps_start(sampler *s, const double *p, rng random);
/* Flies to the next bounce or refreshment with noise of sd `noise` on every component of the
 * gradient. At a bounce s->gradient is the exact gradient, and the velocity is the caller's to
 * reflect; a refreshment is done. Returns the time flown; p_next is set. */
double bps_advance(sampler *s, double noise);
/* Describes the segment flown, after the reflection. */
segment bps_segment(const sampler *s, double dt);
void bps_inspect(const sampler *s, inspection *x);

#endif
