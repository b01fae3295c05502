/* Reads text on several ranks: each reads a stretch and holds only its part of the table. */
#ifndef INGEST_DISTRIBUTED_READ_H
#define INGEST_DISTRIBUTED_READ_H

#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"
#include "table/rows.h"

/* Reads this rank's part of the table (table/row_partition.h), bit for bit as a single process
 * would (collective). *done is false, on all ranks and without any effect, if every rank must
 * read the whole text:
 *   - standard input, pipes, packed files and formats other than CSV;
 *   - texts smaller than spec->distribute_min_bytes;
 *   - formulas that need all rows before the first is complete;
 *   - a quoted cell with line breaks exactly where the text is divided. */
sbps_status rows_read_distributed(const file_list *files, const rows_spec *spec, rows **out,
                                  bool *done, sbps_error *err);

#endif
