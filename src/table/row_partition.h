/* Distribution of a table over ranks. Each rank has consecutive rows of the shuffled order, and
 * so a random sample of the table. Borders are at multiples of ROW_BLOCK, and in long tables of
 * PART_ROWS, so that sums over ranks have the bits of one process (row_sums.h). */
#ifndef TABLE_ROW_PARTITION_H
#define TABLE_ROW_PARTITION_H

#include "core/ranks/ranks.h"
#include "table/rows.h"

/* Returns the first row of a rank's part of `whole` rows; for rank `size`, `whole`. */
size_t partition_begin(size_t whole, size_t size, size_t rank);

/* Creates this rank's partition of a table whose rows are not read yet; the caller frees it.
 * Fails where some rank would have too few rows. */
sbps_status partition_create(size_t whole, ranks *among, row_partition **out, sbps_error *err);
/* Sets the partition's target_origin once the rows are there: rank 0's goes to all. */
void partition_set_origin(const rows *r);
/* Reduces a table that every rank has read to this rank's rows; a mapped table is not copied.
 * Fails on every rank, with the same message, where ranks have not read the same table: number
 * of rows, names of columns and hash are compared. */
sbps_status rows_distribute(rows *r, ranks *among, sbps_error *err);

/* Runs `go` over the rows of the table in their order, rank after rank: each continues with the
 * state (`width` doubles) of the rank before. All ranks get the last rank's state. */
void row_relay(const rows *data, void (*go)(const rows *data, double *state), double *state,
               size_t width);

/* Returns the sum of the ranks' values, added in the order of the ranks. */
double sum_over_ranks(const rows *data, double here);
/* Returns whether all ranks have the same value; NAN: false. */
bool same_on_ranks(const rows *data, double here);
/* Returns whether the value is true on some rank. */
bool any_rank(const rows *data, bool here);

#endif
