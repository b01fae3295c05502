/* The second look at a text that ranks read in shares: from what they have agreed on to this rank's part of the table. */
#ifndef INGEST_PARTITION_TABLE_H
#define INGEST_PARTITION_TABLE_H

#include "ingest/distributed/partition_cursor.h"
#include "ingest/distributed/partition_report.h"

typedef struct {
    const file_list *files;
    const rows_spec *spec;
    ranks *among;
    column_types *types;
    row_source first; /* whose plan is that of all */
    text_partition cut;
    size_t breaks; /* line breaks before the stretch, once they were counted */
    partition_report report;
    partition_verdict verdict;
} distributed_read;

#define HALF_WAY 0.5 /* as it is told: each of the two looks */

/* At the first record of the stretch; `by`: the plan that gives rows their codes. */
partition_cursor partition_cursor_start(const distributed_read *s, column_schema *by);

/* All ranks have read their stretches without trouble, and the plan has the levels of all. */
sbps_status partition_build_table(const distributed_read *s, rows **out, sbps_error *err);

#endif
