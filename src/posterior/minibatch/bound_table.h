/* A table of rows in classes of similar bounds, to draw rows with probabilities proportional
 * to their bounds. Used by row_bounds.c. */
#ifndef POSTERIOR_BOUND_TABLE_H
#define POSTERIOR_BOUND_TABLE_H

#include "core/rng.h"
#include "posterior/full/control.h"

#define BOUND_TABLES  ((size_t)3)
#define BOUND_CLASSES ((size_t)512)

/* Within a class all rows are equally likely and have the class's upper limit as their
 * bound. */
typedef struct {
    double radius, total;            /* sum of bounds; INFINITY: some bound is infinite */
    double bound[BOUND_CLASSES];     /* of each row of a class */
    double upto[BOUND_CLASSES];      /* cumulative sum over classes */
    size_t first[BOUND_CLASSES + 1]; /* position in `order` of each class's first row */
    /* guide[i]: class at which the search starts for i / BOUND_CLASSES of the total */
    uint16_t guide[BOUND_CLASSES];
    uint32_t *order; /* rows by class; NULL: no row has a positive bound */
} bound_table;

/* Fills BOUND_TABLES tables of increasing radius, the last for all distances. norm: |x~_i|
 * of every row, see bounds.h. The caller frees them with bound_tables_free, also after a
 * failure. */
sbps_status bound_tables_fill(const posterior *u, const control *cv, const float *norm,
                              bound_table *tables, sbps_error *err);
/* Frees the arrays of the tables. */
void bound_tables_free(bound_table *tables);
/* Draws a row with probability proportional to its bound, which is written to *bound. */
size_t bound_table_draw(const bound_table *t, rng *random, double *bound);

#endif
