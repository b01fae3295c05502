/* What the samplers share that thin under exact bounds: arrivals under a linear rate, flights and
 * landings on straight lines. */
#ifndef SAMPLER_THINNING_H
#define SAMPLER_THINNING_H

#include "posterior/minibatch/bounds.h"
#include "sampler/core/sampler.h"

/* Bounds are exact in real numbers; this share keeps them so in rounded ones. */
#define BOUND_SLACK 1e-9

/* First arrival of the Poisson process of rate (a + b t)+, an exponential given; INFINITY when
 * the rate falls to 0 before. */
double linear_arrival(double a, double b, double exponential);

/* The metric as the bounds want it. */
row_map thinning_map(const sampler *s);
/* The next position and velocity become the flight's, and the potential aims along it. */
void thinning_begin_segment(sampler *s);
/* Time of the next refreshment. */
double thinning_refresh_at(const sampler *s, rng *random);
/* The segment that was flown for dt, with p_next at its end. */
void thinning_end_segment(sampler *s, double dt, const event *end, segment *out);

#endif
