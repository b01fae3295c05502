/* Streaming moments of what is reported, by exact integrals along the flow, kept in batches of
 * equal time so that their scatter gives the Monte Carlo error. */
#ifndef ESTIMATE_PATH_MOMENTS_H
#define ESTIMATE_PATH_MOMENTS_H

#include "core/inspect.h"
#include "core/memory.h"
#include "path/path.h"

#define MOMENT_BATCHES ((size_t)128)

/* What is reported of coordinate j: NULL function: the coordinate itself. */
typedef double (*reported_value)(double w);

typedef struct {
    double length; /* of a batch, in time; doubles when all are full */
    double filled; /* of the batch under way */
    double time;   /* in all */
    uint64_t full; /* batches complete */
} moments_state;

/* Sums are of x = reported value - its value at the centre. */
typedef struct {
    size_t dim;
    const size_t *of; /* dim: coordinates that are looked at; NULL: all. Set after carving */
    const reported_value *report; /* of each coordinate */
    const double *centre;
    moments_state *state;
    double *sum;     /* 4*dim: x, x^2 (exact), x^3, x^4 (midpoint rule), whole run */
    double *part;    /* 2*dim: x, x^2 of the batch under way */
    double *batches; /* MOMENT_BATCHES * 2*dim */
} moments;

void moments_carve(moments *m, size_t dim, const reported_value *report, const double *centre,
                   arena *memory);
/* Forgets everything; batches begin at this length. */
void moments_start(moments *m, double length);
void moments_take(void *self, const segment *s);

typedef struct {
    double mean, sd, mcse;
    double ess_mean, ess_square; /* of x and of (x - mean)^2 */
    double rhat; /* between and within chains, from the path; NAN for one chain */
} moment_summary;

/* Pools the chains by time. With too little path mcse is NAN and the ESS 0. */
moment_summary moments_summarize(const moments *chains, size_t count, size_t j);
/* The smallest ESS of all coordinates and their squares; 0 while there is too little. */
double moments_min_ess(const moments *chains, size_t count);
/* The largest R-hat of all coordinates between `groups` of `each` chains, one group after another; NAN for one. */
double moments_nested_rhat(const moments *chains, size_t groups, size_t each);
void moments_inspect(const moments *m, inspection *x);

#endif
