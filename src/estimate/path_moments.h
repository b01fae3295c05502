/* Moments of the reported parameters along a path: a sink. Means are exact integrals along the
 * flow; sums are also kept in batches of equal time, whose scatter gives the Monte Carlo
 * error. */
#ifndef ESTIMATE_PATH_MOMENTS_H
#define ESTIMATE_PATH_MOMENTS_H

#include "core/inspect.h"
#include "core/memory.h"
#include "path/path.h"

#define MOMENT_BATCHES ((size_t)128) /* even; batches are joined in pairs when all are full */

/* The function of a coordinate that is reported; NULL: the coordinate itself. */
typedef double (*reported_value)(double w);

typedef struct {
    double length; /* time of a batch; doubles when all batches are full */
    double filled; /* time of the current batch so far */
    double time;   /* of the whole path */
    uint64_t full; /* complete batches */
} moments_state;

/* Sums are over x = reported value - reported value at the centre. */
typedef struct {
    size_t dim;
    const size_t
        *of; /* dim: the coordinates of the moments; NULL: 0, 1, ... Set after carving */
    const reported_value *report; /* for each coordinate */
    const double *centre;
    moments_state *state;
    double *sum;     /* 4*dim: x, x^2 (exact), x^3, x^4 (midpoint rule), whole run */
    double *part;    /* 2*dim: x, x^2 of the current batch */
    double *batches; /* MOMENT_BATCHES * 2*dim */
} moments;

/* Carves the arrays from the chain's arena. `report` and `centre` are borrowed. */
void moments_carve(moments *m, size_t dim, const reported_value *report, const double *centre,
                   arena *memory);
/* Sets all sums to 0; `length` is the initial time of a batch. */
void moments_start(moments *m, double length);
/* Adds a segment to the moments `self`. */
void moments_take(void *self, const segment *s);

typedef struct {
    double mean, sd, mcse;
    double ess_mean, ess_square; /* of x and of (x - mean)^2 */
    double rhat;                 /* of the chains' paths; NAN for one chain */
} moment_summary;

/* Summarises moment j of all chains, weighted by time. With fewer than 16 batches per chain
 * mcse is NAN and both ESS are 0. */
moment_summary moments_summarize(const moments *chains, size_t count, size_t j);
/* Returns the smallest ESS of all coordinates and their squares; 0 with too few batches. */
double moments_min_ess(const moments *chains, size_t count);
/* Returns the largest nested R-hat of all coordinates, of `groups` groups of `each` chains
 * stored one group after another; NAN for one group. */
double moments_nested_rhat(const moments *chains, size_t groups, size_t each);
/* Checks sums that were read from a file. */
void moments_inspect(const moments *m, inspection *x);

#endif
