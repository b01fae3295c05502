/* Sums along a path for the stated bias: how far the bounces that the sampler missed shift the
 * means. bias_response.c has the mathematics; here are the sums that it needs, and their parts
 * by stretch of the path, whose scatter gives the error.
 *
 * Notation: x = w - centre, u the velocity, u_r the velocity after a reflection, m = (G/lambda
 * - 1)+ the weight of a violation, s = u'Hx the slope by the Hessian H at the centre. */
#ifndef ESTIMATE_BIAS_H
#define ESTIMATE_BIAS_H

#include "core/inspect.h"
#include "core/memory.h"
#include "path/path.h"

/* Up to this dimension the second order is kept: d*d numbers per chain. */
#define BIAS_SECOND_ORDER ((size_t)256)
#define BIAS_SNAPSHOTS    ((size_t)16) /* stretches of a path, at most */
#define BIAS_EXAMPLES     ((size_t)8)  /* bounces of a path that are kept */

typedef struct {
    uint64_t segments;
    double steepness; /* sum over violations of m (s^2 - s_r^2) */
    double decay;     /* sum over sampled events of s^2 (s_r^2 - s^2) */
    double sampled;   /* time of the sampled segments */
    uint64_t snapshots_taken;
    uint64_t stretch;   /* segments per snapshot; doubles when all BIAS_SNAPSHOTS are taken */
    uint64_t stretched; /* segments since the last snapshot */
    uint64_t examples;  /* examples kept, including those overwritten */
} bias_state;

/* A sink. Arrays are carved from the chain's arena. second, jump, jump_second are NULL if dim
 * exceeds BIAS_SECOND_ORDER; hessian, jump and jump_second also if no Hessian is available. */
typedef struct {
    size_t dim;
    const event_counts *counts; /* of this path, updated before this sink; borrowed */
    bias_state *state;
    double *push;          /* dim: sum over violations of m (u - u_r) */
    double *second;        /* dim*dim: sum of m x_a (u - u_r)_b */
    const double *hessian; /* dim*dim, of U at the centre; borrowed */
    double *jump;          /* dim: sum over sampled events of s^2 (u_r - u) */
    double *jump_second;   /* dim*dim: sum of s^2 x (u_r - u)' plus the integral of s^2 u u' */
    double *snapshots;     /* BIAS_SNAPSHOTS: time, steepness, push, second at that time */
    double *examples;      /* BIAS_EXAMPLES: x, u - u_r, s^2 - s_r^2 of a bounce */
} bias;

/* Carves the arrays. Without a Hessian (NULL) the effect of a changed slope on later bounces is
 * left out. */
void bias_carve(bias *b, size_t dim, const double *hessian, const event_counts *counts,
                arena *memory);
/* Sets all sums to 0. */
void bias_start(bias *b);
/* Adds a segment to the bias `self`. */
void bias_take(void *self, const segment *s);
/* Checks sums that were read from a file. */
void bias_inspect(const bias *b, inspection *x);

/* ---- parts of the sums, over all chains ---- */

/* Bounces missed in one stretch of the path, in all of it, or one single bounce. */
typedef struct {
    double time, steepness;
    double *push, *second; /* dim; dim*dim or NULL. Memory of the caller */
} bias_missed;

/* Time of all chains. */
double bias_time(const bias *chains, size_t count);
/* The sums of all chains. */
void bias_all(const bias *chains, size_t count, bias_missed *out);
/* The number of stretches; stretch g consists of the g-th stretch of every chain. */
size_t bias_groups(const bias *chains, size_t count);
void bias_group(const bias *chains, size_t count, size_t group, bias_missed *out);
/* The number of example bounces; the time of an example is 0. */
size_t bias_example_count(const bias *chains, size_t count);
void bias_example(const bias *chains, size_t count, size_t index, bias_missed *out);
/* Standard error of the number of missed bounces that were not observed: with probability 95 %
 * there are at most twice as many. */
double bias_unseen(const bias *chains, size_t count);

#endif
