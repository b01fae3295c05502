/* Arrivals by thinning where U is not known to be convex: bounds from looks at the slope. */
#ifndef SAMPLER_CELLS_H
#define SAMPLER_CELLS_H

#include "base/rng.h"
#include "sampler/line.h"

/* Lengths in natural units; learned from flight to flight, pointer-free. */
typedef struct {
    double length; /* of the next cell */
    double most;   /* longest allowed: halved at a violation, recovers slowly */
} cells;

cells cells_start(void);
/* First arrival of the rate E (G + y)+, y ~ N(0, sigma^2), before `limit`, at *time, where the slope
 * was looked at last. Violations are counted in the line's event. */
bool cells_arrival(line *l, cells *c, double sigma, rng *random, double limit, double *time);
void cells_inspect(const cells *c, inspection *x);

#endif
