/* Ranks and the normal scores made of them. */
#ifndef ESTIMATE_NORMAL_SCORES_H
#define ESTIMATE_NORMAL_SCORES_H

#include <stddef.h>

typedef struct {
    double value;
    size_t index;
} ranked;

/* The p-quantile of the standard normal, 0 < p < 1, to about 1e-16 relative. */
double normal_quantile(double p);
/* The values of x in increasing order with their places, somewhere in `room`, which holds 2n. x
 * must not hold NaN. */
const ranked *sort_ranked(size_t n, const double *x, ranked *buffer);
/* The normal quantile of (rank - 3/8) / (n + 1/4); ranks are 1 to n. */
double rank_score(double rank, size_t n);
/* scores[order[i].index] = that of its rank, tied values sharing their mean rank; by_rank[i]: that of i + 1. */
void order_scores(size_t n, const ranked *order, const double *by_rank, double *scores);

#endif
