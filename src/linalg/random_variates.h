/* Random variates of the distributions that models simulate from. */
#ifndef LINALG_RANDOM_VARIATES_H
#define LINALG_RANDOM_VARIATES_H

#include "core/rng.h"

/* A Poisson count with this mean; mean >= 0. */
double draw_poisson(rng *r, double mean);
/* The number of successes in n trials of probability p each, 0 <= p <= 1. */
double draw_binomial(rng *r, double n, double p);
/* The logarithm of a gamma variate of this shape (> 0) and scale 1. The logarithm, since
 * variates of small shape underflow. */
double draw_log_gamma(rng *r, double shape);

#endif
