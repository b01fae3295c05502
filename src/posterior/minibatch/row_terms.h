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

/* ---- slopes.c ----
 *
 * Sums of slopes over a batch for models with a mean function: one pass over the rows'
 * products. The residual r_i of every row is stored for the gradient. */

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

/* ---- rows that are evaluated again ----
 *
 * Control variates for tables with recompute_rows (table/rows.h): a row's numbers at the
 * reference are computed at every use instead of stored. */

/* Doubles of scratch per row of a block; 0 for other tables. */
size_t recompute_blocks(const posterior *target);

/* A control variate's numbers: those of row i of a range are at row_index(at, i) of its
 * arrays, auxiliaries `pitch` apart. */
typedef struct {
    const control *cv;
    row_range at;
    size_t pitch;
} recomputed_rows;

/* Evaluates the rows of r, at most a block, at the reference; y: their targets. For tables
 * without recompute_rows it returns the stored numbers. There must be a control variate. */
recomputed_rows recompute_rows(minibatch *u, row_range r, const double *y);
/* Sets base and curvature of s for the slopes of n rows, whose products with cv->at are in
 * u->recomputed. */
void recompute_base(minibatch *u, size_t n, slope_terms *s);

#endif
