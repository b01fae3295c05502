/* Ranks and the normal scores made of them. */
#ifndef ESTIMATE_RANKS_H
#define ESTIMATE_RANKS_H

#include <stddef.h>

typedef struct {
    double value;
    size_t index;
} ranked;

/* The p-quantile of the standard normal, 0 < p < 1, to about 1e-16 relative. */
double normal_quantile(double p);
/* The values of x in increasing order with their places, somewhere in `room`, which holds 2n. x
 * must not hold NaN. */
const ranked *sort_ranked(size_t n, const double *x, ranked *room);
/* scores[i] = normal quantile of (rank(x_i) - 3/8) / (n + 1/4), ties sharing their mean rank. x
 * and `room` as above. */
void normal_scores(size_t n, const double *x, ranked *room, double *scores);

#endif
