/* Reads text on several ranks: each reads a stretch and holds only its part of the table. */
#ifndef INGEST_DISTRIBUTED_READ_H
#define INGEST_DISTRIBUTED_READ_H

#include "ingest/distributed/text_partition.h"
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

/* ---- partition_table.c: the second pass, which builds this rank's part of the table ---- */

/* The state of a distributed read on one rank. */
typedef struct {
    const file_list *files;
    const rows_spec *spec;
    ranks *among;
    column_types *types;
    row_source first; /* the first file; its schema is that of all */
    text_partition cut;
    size_t breaks; /* line breaks before the stretch, when they were counted */
    partition_report report;
    partition_verdict verdict;
} distributed_read;

#define HALF_WAY 0.5 /* progress: each of the two passes is half of the work */

/* Returns a cursor at the first record of the stretch; `by` is the schema that gives rows their
 * codes. */
partition_cursor partition_cursor_start(const distributed_read *s, column_schema *by);

/* Reads the text again, sends each row to the rank that keeps it, and creates this rank's part
 * of the table, which the caller owns. Call after a first pass without errors, when the schema
 * has the levels of all ranks. */
sbps_status partition_build_table(const distributed_read *of, rows **out, sbps_error *err);

#endif
