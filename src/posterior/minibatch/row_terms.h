/* Terms of a range of rows along the current line: slopes, log-likelihoods and gradients,
 * each less the control variate's polynomial. For the files of this folder. */
#ifndef POSTERIOR_ROW_TERMS_H
#define POSTERIOR_ROW_TERMS_H

#include "posterior/minibatch/minibatch.h"

/* Computes a number for every row of a range at time t, without the row weights, into u->out
 * from `at`. */
typedef void (*terms_values)(minibatch *u, row_range r, double t, size_t at);

/* One table per form of model. */
typedef struct row_terms {
    /* doubles of scratch for n rows */
    size_t (*scratch)(const posterior *target, size_t n);
    void (*prepare)(minibatch *u, double t); /* called before a pass at time t */
    terms_values slopes, logliks;
    /* u->total += sum of weight_i grad log p_i, less the control variate's; unless loglik is
     * NULL, *loglik += sum of weight_i log p_i. */
    void (*gradient)(minibatch *u, row_range r, double t, double *loglik);
    bool by_products; /* x is used in products only, wherever it was read to */
} row_terms;

extern const row_terms terms_predictor, terms_pointwise;

/* The terms for the model of target. */
const row_terms *terms_of(const posterior *target);
/* values[i] *= weight and stratum factor of row i of r. */
void terms_weigh(const minibatch *u, row_range r, double *values);
/* Weighs u->out and returns its sum. */
double terms_sum(minibatch *u, row_range r);

#endif
