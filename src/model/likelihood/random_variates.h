/* Numbers of the laws that models have. */
#ifndef MODEL_RANDOM_VARIATES_H
#define MODEL_RANDOM_VARIATES_H

#include "core/rng.h"

/* A count with this mean. */
double draw_poisson(rng *r, double mean);
/* Successes of n trials, each with probability p. */
double draw_binomial(rng *r, double n, double p);
/* The logarithm of a number of the gamma law with this shape and scale 1: of small shapes it is far below 0. */
double draw_log_gamma(rng *r, double shape);

#endif
