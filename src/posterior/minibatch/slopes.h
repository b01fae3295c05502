/* Sums of slopes over a batch, where the model has a mean function: one pass over the products of
 * its rows. What every row leaves, r_i, is kept for the gradient. For the files of this folder. */
#ifndef POSTERIOR_SLOPES_H
#define POSTERIOR_SLOPES_H

#include "posterior/minibatch/minibatch.h"

/* Can these rows be summed this way? */
bool slopes_apply(const minibatch *u);
/* Of rows `begin` to `end` of the batch: sums[0] = sum of their slopes at time t, sums[1] of their
 * squares. */
void slopes_sum(minibatch *u, size_t begin, size_t end, double t, double sums[2]);
/* The same along another direction from the point of the last slopes_sum, on the same batch. */
void slopes_sum_kept(minibatch *u, size_t begin, size_t end, double sums[2]);
/* u->total += factor sum of weight_i grad log p_i, less the control variate's, at the last
 * slopes_sum. */
void slopes_combine(minibatch *u, size_t begin, size_t end, double factor);

#endif
