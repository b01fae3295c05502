/* What a range of rows says along the line aimed at: slopes, log-likelihoods, gradients, each less
 * the control variate's polynomial. For the files of this folder. */
#ifndef POTENTIAL_TERMS_H
#define POTENTIAL_TERMS_H

#include "potential/potential.h"

/* Readies a pass at time t: a general model is given w itself. */
void terms_place(potential *u, double t);
void terms_weigh(const potential *u, row_range r, double *values);

/* Something of every row of a range at time t, into u->out from `at`; row weights are not in it. */
typedef void (*terms_values)(potential *u, row_range r, double t, size_t at);
void terms_slopes(potential *u, row_range r, double t, size_t at);
void terms_logliks(potential *u, row_range r, double t, size_t at);

/* u->total += sum of weight_i grad log p_i, less the control variate's; loglik, unless NULL, += sum
 * of weight_i log p_i. */
void terms_gradient(potential *u, row_range r, double t, double *loglik);

#endif
