/* Means and population standard deviations of the columns of a table, in one pass that may
 * serve other purposes on the way. */
#ifndef TABLE_COLUMN_MOMENTS_H
#define TABLE_COLUMN_MOMENTS_H

#include "table/rows.h"

typedef struct {
    const rows *r;
    unsigned threads;
    /* Optional: called once for every local row before it is read, with rows first, ..., first
     * + count - 1, by the thread that reads them; it may change them (standardisation). */
    void (*before)(void *self, size_t first, size_t count);
    void *self;
} row_pass;

/* Fills mean and sd, `d` each, of a table of n >= 1 rows; of a distributed table those of all
 * ranks' rows, on every rank. Rows in memory must be there to the end of the last piece
 * (HASH_ROWS) that begins on this rank. sd is exactly 0 for a column of equal values. Unless
 * `pieces` is NULL it receives the joined hash of the pieces of x (content_hash.h). The bits are
 * the same on any number of threads and ranks. */
sbps_status column_moments(const row_pass *pass, double *mean, double *sd, uint64_t *pieces,
                           sbps_error *err);

#endif
