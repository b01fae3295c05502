/* Arrivals by thinning where U is not known to be convex: bounds from evaluations of the
 * slope. */
#ifndef SAMPLER_CELL_THINNING_H
#define SAMPLER_CELL_THINNING_H

#include "core/rng.h"
#include "sampler/exact/exact_arrival.h"

/* Lengths in natural units; adapted from segment to segment; pointer-free. */
typedef struct {
    double length; /* of the next cell */
    double most;   /* longest allowed: halved at a violation, recovers slowly */
} cell_lengths;

/* The initial lengths. */
cell_lengths cell_thinning_start(void);
/* First arrival of the rate E (G + y)+, y ~ N(0, sigma^2), before `limit`: true, and *time
 * is the arrival, where the slope was evaluated last. False: *time is the end. Violations
 * are counted in the line's event. */
bool cell_thinning_arrival(exact_line *l, cell_lengths *c, double sigma, rng *random,
                           double limit, double *time);
/* Checks restored lengths. */
void cell_thinning_inspect(const cell_lengths *c, inspection *x);

#endif
