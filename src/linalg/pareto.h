/* Pareto-smoothed importance weights: the largest of them give way to what a generalized Pareto distribution
 * fitted to them has there, and its shape k says how far averages can be trusted. */
#ifndef LINALG_PARETO_H
#define LINALG_PARETO_H

#include <stddef.h>

#define PARETO_TRUSTED 0.7 /* k up to which averages with the smoothed weights can be */

typedef struct {
    double log_weight;
    size_t index;
} ranked_weight;

/* Smooths n log weights in place, of which the largest becomes at most what it was; `room` has n. Returns k:
 * INFINITY where the tail has fewer than 5 or they are all the same. */
double pareto_smooth(size_t n, double *log_weight, ranked_weight *scratch);

#endif
