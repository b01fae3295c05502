/* Sums of slopes over a batch for models with a mean function: one pass over the rows'
 * products. The residual r_i of every row is stored for the gradient. For the files of this
 * folder. */
#ifndef POSTERIOR_SLOPES_H
#define POSTERIOR_SLOPES_H

#include "posterior/minibatch/minibatch.h"

/* True if the slopes of this model and line can be summed this way. */
bool slopes_apply(const minibatch *u);
/* For rows begin..end of the batch: sums[0] = sum of their slopes at time t, sums[1] = sum
 * of squares. */
void slopes_sum(minibatch *u, size_t begin, size_t end, double t, double sums[2]);
/* The same along another direction from the point of the last slopes_sum, on the same batch. */
void slopes_sum_kept(minibatch *u, size_t begin, size_t end, double sums[2]);
/* u->total += factor * sum of weight_i grad log p_i, less the control variate's, at the last
 * slopes_sum. */
void slopes_combine(minibatch *u, size_t begin, size_t end, double factor);

#endif
