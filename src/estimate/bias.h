/* How far do the bounces that did not happen shift the means? Linear response, from the path. */
#ifndef ESTIMATE_BIAS_H
#define ESTIMATE_BIAS_H

#include "base/memory.h"
#include "path/path.h"

typedef struct {
    double time;
    double missing; /* bounces */
    uint64_t proposals, bounces, refreshments, violations, rows;
} bias_state;

typedef struct {
    size_t dim;
    bias_state *state;
    double *push;   /* dim: sum over violations of m (u - u_r) */
    double *square; /* dim: sum of its squares, for the error */
} bias;

void bias_carve(bias *b, size_t dim, arena *memory);
void bias_start(bias *b);
void bias_take(void *self, const segment *s);

/* y = (A A')^-1 x, the inverse of d Cov(u): the metric's, handed in by whoever knows it. */
typedef struct {
    const void *self;
    void (*apply)(const void *self, const double *x, double *y);
} precision_map;

/* Shift of every mean in w, pooled over chains; covariance is dim*dim, of the posterior.
 * `scratch` has 2*dim numbers. */
void bias_shift(const bias *chains, size_t count, precision_map map, const double *covariance,
                double *scratch, double *shift);

#endif
