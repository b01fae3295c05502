/* Ranks of numbers and their normal scores. */
#ifndef ESTIMATE_NORMAL_SCORES_H
#define ESTIMATE_NORMAL_SCORES_H

#include <stddef.h>

typedef struct {
    double value;
    size_t index;
} ranked;

/* Returns the p-quantile of the standard normal, 0 < p < 1, to a relative error of about
 * 1e-16. */
double normal_quantile(double p);
/* Sorts the values of x, with their indices, in increasing order; equal values keep their
 * order. Returns a pointer into `buffer`, which has room for 2n. x must not contain NaN. */
const ranked *sort_ranked(size_t n, const double *x, ranked *buffer);
/* Returns the normal quantile of (rank - 3/8) / (n + 1/4); ranks are 1 to n. */
double rank_score(double rank, size_t n);
/* Sets scores[order[i].index] to the score of its rank; tied values share their mean rank.
 * by_rank[i] is the score of rank i + 1. */
void order_scores(size_t n, const ranked *order, const double *by_rank, double *scores);

#endif
