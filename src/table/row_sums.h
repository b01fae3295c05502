/* Sums over all rows of a table: the only way in which they are computed. Rows are added in
 * blocks of at most ROW_BLOCK; the blocks of a part are added to its total one after another,
 * and the parts' totals in the order of the parts. A sum so has the same bits on any number of
 * threads. Over a distributed table every rank gets the sum over all ranks, unless the width is
 * 0: then rows are only visited, each rank its own. */
#ifndef TABLE_ROW_SUMS_H
#define TABLE_ROW_SUMS_H

#include "table/rows.h"

#include <stdatomic.h>

#define ROW_BLOCK ((size_t)512)    /* rows of a block, at most */
#define PART_ROWS (32 * ROW_BLOCK) /* rows of a part, unless the table has sum_part_rows */

/* Threads that visit the rows of a table. */
struct row_workers {
    unsigned threads; /* 1: the caller's only */
    /* ranks only: each adds all its rows at once. Fewer messages, but the bits of a sum then
     * depend on the number of ranks */
    bool hurried;
    atomic_ullong visited;      /* rows visited by all sums */
    atomic_ullong *shown;       /* the same count, for progress reports; NULL: none */
    const atomic_bool *stopped; /* stop flag, or NULL if the call cannot be interrupted */
};

typedef struct {
    const void *self; /* passed to `add`; only per-row parts of it may change */
    size_t width;     /* numbers of the total; 0: rows are only visited */
    size_t scratch;   /* doubles that `add` may use, of its own thread */
    /* total += the sum over a block */
    void (*add)(const void *self, row_range block, double *scratch, double *total);
    /* Optional, both or neither: the value at which a part's total begins (NULL: 0), and how it
     * joins the total (NULL: by addition). */
    const double *begin;
    void (*merge)(double *total, const double *part);
    bool uncounted; /* not counted as visits: reads per-row numbers other than x */
    bool any;       /* only total[0] > 0 matters: a part ends as soon as that holds */
} row_sum;

/* Adds the sum over all rows to `total` (width doubles; NULL for a width of 0). Fails for lack
 * of memory, or where the stop flag is set. */
sbps_status row_sums(const rows *data, const row_sum *what, double *total, sbps_error *err);

#endif
