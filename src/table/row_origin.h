/* Rows are shuffled when they are read: where was one before? */
#ifndef TABLE_ROW_ORIGIN_H
#define TABLE_ROW_ORIGIN_H

#include "table/rows.h"

/* Place of source row i after the shuffle of n >= 1 rows in memory, for every i; NULL: no memory. A uniform
 * permutation that depends on the seed and the number of rows alone. */
size_t *shuffled_places(uint64_t seed, size_t n, unsigned threads);
/* The row of the source that goes to each place, of less than 2^32; takes less memory. */
uint32_t *shuffled_sources(uint64_t seed, size_t n, unsigned threads);

/* The same where rows stay as they are. */
size_t *same_places(size_t n);

/* The row of the source, counted from 0 and without rows that were dropped, that lies at `place` of the table. */
sbps_status rows_origin(const rows *data, size_t place, size_t *origin, sbps_error *err);
/* Of several rows of a converted table: places become rows of the source. */
sbps_status rows_origins(const rows *data, size_t count, size_t *place, sbps_error *err);

#endif
