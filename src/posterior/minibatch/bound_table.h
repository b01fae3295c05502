/* Rows sorted into classes of like bounds, for drawing them by these: of row_bounds.c. */
#ifndef POSTERIOR_BOUND_TABLE_H
#define POSTERIOR_BOUND_TABLE_H

#include "core/rng.h"
#include "posterior/full/control.h"

#define BOUND_TABLES  ((size_t)3)
#define BOUND_CLASSES ((size_t)512)

/* Within a class rows are drawn alike, by the largest bound that it may hold. */
typedef struct {
    double radius, total;            /* sum of bounds; INFINITY: there are none */
    double bound[BOUND_CLASSES];     /* of each row */
    double upto[BOUND_CLASSES];      /* running sum over classes */
    size_t first[BOUND_CLASSES + 1]; /* in order */
    uint16_t
        guide[BOUND_CLASSES]; /* class from which on that part of the total is looked for */
    uint32_t *order;          /* rows; NULL: nothing to draw from */
} bound_table;

/* By increasing radius, the last for all distances; norm: |x~| of every row. Give back with bound_tables_free,
 * also after a failure. */
sbps_status bound_tables_fill(const posterior *u, const control *cv, const float *norm,
                              bound_table *tables, sbps_error *err);
void bound_tables_free(bound_table *tables);
size_t bound_table_draw(const bound_table *t, rng *random, double *bound);

#endif
