/* What a control variate knows of rows of a table that is lean (table/rows.h): they are asked again at every look, where
 * others have it lying in an array. For the files of this folder. */
#ifndef POSTERIOR_RECOMPUTE_ROWS_H
#define POSTERIOR_RECOMPUTE_ROWS_H

#include "posterior/minibatch/minibatch.h"

/* Doubles a row of a block that asking takes: 0 of tables that are not lean. */
size_t recompute_blocks(const posterior *target);

/* A control variate's numbers: those of row i of a range are at row_index(at, i) of its arrays, auxiliaries `pitch` apart. */
typedef struct {
    const control *cv;
    row_range at;
    size_t pitch;
} recomputed_rows;

/* Of rows with these targets, no more than a block; there is a control variate. */
recomputed_rows recompute_rows(minibatch *u, row_range r, const double *y);
/* Base and curvature of slopes of n rows, whose products with cv->at lie in u->asked. */
void recompute_base(minibatch *u, size_t n, slope_terms *s);

#endif
