/* A table's rows shared out over ranks: each has consecutive ones of the shuffled order, so that every rank holds a
 * random part. Borders lie where blocks of rows end, and of long tables where parts of sums do, so that what ranks
 * add up together has the bits of one process (row_sums.h). */
#ifndef TABLE_ROW_PARTITION_H
#define TABLE_ROW_PARTITION_H

#include "core/ranks/ranks.h"
#include "table/rows.h"

/* The first row of a rank's share of `whole` rows; that of rank `size` is where they end. */
size_t partition_begin(size_t whole, size_t size, size_t rank);

/* This rank's share of so many rows, which are not there yet; fails where they are too few. */
sbps_status partition_create(size_t whole, ranks *among, row_partition **out, sbps_error *err);
/* The rows of a share that was made before them are there: what one rank alone knows of the table is told to all. */
void partition_set_origin(const rows *r);
/* The rows, all of the table, become this rank's share; of a mapped table nothing is copied. Fails on every rank, with
 * the same sentence, where ranks do not have the same rows: their number, names of columns and hash are compared. */
sbps_status rows_distribute(rows *r, ranks *among, sbps_error *err);

/* A loop through all rows of the table, in their order, that goes on from rank to rank: `go` takes up the state
 * where the rank before has left it. All ranks have the last one's then. */
void row_relay(const rows *data, void (*go)(const rows *data, double *state), double *state,
               size_t width);

/* The sum of what ranks say, in their order. */
double sum_over_ranks(const rows *data, double here);
/* Do all ranks say the same? NAN: no. */
bool same_on_ranks(const rows *data, double here);
/* Does any rank say so? */
bool any_rank(const rows *data, bool here);

#endif
