/* Text that ranks read in shares: none of them sees all of it, or holds more than its part of the table. */
#ifndef INGEST_DISTRIBUTED_READ_H
#define INGEST_DISTRIBUTED_READ_H

#include "ingest/text/table_files.h"

/* The table of the files, this rank's share of it (table/row_partition.h), with the bits that one process would have given it.
 * *done is false where they must be read whole by every rank: standard input and pipes, packed files, those that are
 * small or not CSV, formulas that wait for all rows, and quotes over lines just where the text is cut. All ranks then
 * say so, and nothing has happened. */
sbps_status rows_read_distributed(const file_list *files, const rows_spec *spec, rows **out,
                                  bool *done, sbps_error *err);

#endif
