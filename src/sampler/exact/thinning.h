/* Shared by the samplers that thin under exact bounds: arrivals under a linear rate,
 * straight segments. */
#ifndef SAMPLER_THINNING_H
#define SAMPLER_THINNING_H

#include "posterior/minibatch/bounds.h"
#include "sampler/core/sampler.h"

/* Relative margin that keeps bounds valid in spite of rounding. */
#define BOUND_SLACK 1e-9

/* First arrival of the Poisson process of rate (a + b t)+ from a standard exponential draw;
 * INFINITY when the rate falls to 0 before. */
double linear_arrival(double a, double b, double exponential);

/* The transpose of the metric as a row_map. */
row_map thinning_map(const sampler *s);
/* Starts a segment at the next position and velocity, and sets the potential's line along
 * it. */
void thinning_begin_segment(sampler *s);
/* Draws the time of the next refreshment; INFINITY without refreshment. */
double thinning_refresh_at(const sampler *s, rng *random);
/* Sets p_next after time dt, and describes the segment. */
void thinning_end_segment(sampler *s, double dt, const event *end, segment *out);

#endif
