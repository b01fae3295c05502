/* Pareto-smoothed importance weights: the largest weights are replaced by quantiles of a
 * generalized Pareto distribution fitted to them, whose shape k shows how reliable averages
 * are. */
#ifndef LINALG_PARETO_H
#define LINALG_PARETO_H

#include <stddef.h>

#define PARETO_TRUSTED 0.7 /* largest k with reliable averages */

typedef struct {
    double log_weight;
    size_t index;
} ranked_weight;

/* Smooths n log weights in place; the largest does not increase. scratch: n. Returns k:
 * INFINITY where the tail has fewer than 5 weights or they are all equal. */
double pareto_smooth(size_t n, double *log_weight, ranked_weight *scratch);

#endif
