/* Mean and population sd of the columns of a table, and what else is wanted of all rows while they are near. */
#ifndef TABLE_COLUMN_MOMENTS_H
#define TABLE_COLUMN_MOMENTS_H

#include "table/rows.h"

typedef struct {
    const rows *r;
    unsigned threads;
    /* Optional: rows first, first + 1, ... are about to be looked at, by one thread, once. */
    void (*before)(void *self, size_t first, size_t count);
    void *self;
} row_pass;

/* Of n >= 1 rows, d doubles each; of rows that are shared out, those of the whole table. Dense ones must then be there to
 * the end of the last piece (HASH_ROWS) that begins here. sd is exactly 0 for a column of equal values. `pieces`, unless it is NULL:
 * the hashes of the pieces of x, joined (hash.h). The same bits on any number of threads. */
sbps_status column_moments(const row_pass *pass, double *mean, double *sd, uint64_t *pieces,
                           sbps_error *err);

#endif
