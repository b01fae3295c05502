/* Control variates for tables with recompute_rows (table/rows.h): a row's numbers at the
 * reference are computed at every use instead of stored. For the files of this folder. */
#ifndef POSTERIOR_RECOMPUTE_ROWS_H
#define POSTERIOR_RECOMPUTE_ROWS_H

#include "posterior/minibatch/minibatch.h"

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
