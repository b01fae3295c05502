/* The one way in which sums over all rows are made. Rows come in blocks; the blocks of a part are added to
 * one total after another, and the parts' totals in their order, so that a sum has the same bits however
 * many make its parts. Of rows that are shared out over ranks all have the sum over the whole table; a width of 0
 * is a rank's own affair. */
#ifndef TABLE_ROW_SUMS_H
#define TABLE_ROW_SUMS_H

#include "table/rows.h"

#include <stdatomic.h>

#define ROW_BLOCK ((size_t)512)    /* rows of a block, at most */
#define PART_ROWS (32 * ROW_BLOCK) /* rows of a part */

/* Who goes through the rows of a table. */
struct row_workers {
    unsigned threads; /* 1: the caller alone */
    bool
        hurried; /* of ranks: each adds up its rows at once, and bits are those of so many ranks */
    atomic_ullong visited;      /* rows, by all sums together */
    atomic_ullong *shown;       /* the same for whoever looks on; NULL: nobody does */
    const atomic_bool *stopped; /* whoever wants no more; NULL: nobody can say so */
};

typedef struct {
    const void *self; /* what is the same for every block, and not changed but row by row */
    size_t width;     /* numbers of the total; 0: rows are only visited */
    size_t scratch;   /* doubles that a block needs, on a cache line of their own */
    /* total += what the rows of the block say */
    void (*add)(const void *self, row_range block, double *scratch, double *total);
    /* Optional, both or none: where a part's total begins (NULL: at 0), and how it becomes one with the
     * total (NULL: they are added). */
    const double *begin;
    void (*merge)(double *total, const double *part);
    bool beside; /* reads numbers that lie beside the rows, and is no pass through these */
    bool any;    /* asked is only whether total[0] > 0: a part ends when it is */
} row_sum;

/* total += the sum; NULL for a width of 0. */
sbps_status row_sums(const rows *data, const row_sum *what, double *total, sbps_error *err);

#endif
