/* What a range of rows says along the line aimed at: slopes, log-likelihoods, gradients, each less
 * the control variate's polynomial. For the files of this folder. */
#ifndef POSTERIOR_ROW_TERMS_H
#define POSTERIOR_ROW_TERMS_H

#include "posterior/minibatch/minibatch.h"

/* Something of every row of a range at time t, into u->out from `at`; row weights are not in it. */
typedef void (*terms_values)(minibatch *u, row_range r, double t, size_t at);

/* One for each form that a model may have. */
typedef struct row_terms {
    size_t (*scratch)(const posterior *target, size_t n); /* doubles that n rows need */
    void (*place)(minibatch *u, double t);                /* readies a pass at time t */
    terms_values slopes, logliks;
    /* u->total += sum of weight_i grad log p_i, less the control variate's; loglik, unless NULL, += sum
     * of weight_i log p_i. */
    void (*gradient)(minibatch *u, row_range r, double t, double *loglik);
    bool by_products; /* x is seen through products alone, wherever it was read to */
} row_terms;

extern const row_terms terms_predictor, terms_pointwise;

const row_terms *terms_of(const posterior *target);
void terms_weigh(const minibatch *u, row_range r, double *values);
/* u->out, weighed, and summed. */
double terms_sum(minibatch *u, row_range r);

#endif
