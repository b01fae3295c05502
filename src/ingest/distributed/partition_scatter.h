/* The second look at the text: rows go, as they are read, to the ranks that keep them. */
#ifndef INGEST_PARTITION_SCATTER_H
#define INGEST_PARTITION_SCATTER_H

#include "ingest/design/storage.h"
#include "ingest/distributed/partition_cursor.h"
#include "table/scatter_rows.h"

/* Rows of this rank's table come in any order, `to` being their places, by several threads at a time. */
typedef void (*scatter_sink)(void *self, unsigned worker, const double *row, size_t to);

/* All rows of this rank's stretch, of which `cursor` is at the first, go out in rounds, and those of its table come in.
 * Fails where the text is not what it was when it was counted. */
sbps_status partition_scatter_rows(partition_cursor *cursor, row_scatter *scatter,
                                   unsigned threads, scatter_sink sink, void *self,
                                   sbps_error *err);

#endif
