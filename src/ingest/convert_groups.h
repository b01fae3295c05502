/* Tables with groups on disk. */
#ifndef INGEST_CONVERT_GROUPS_H
#define INGEST_CONVERT_GROUPS_H

#include "ingest/convert_text.h"
#include "ingest/text/table_files.h"

/* Reads the files and writes their table, whose rows lie in groups: it is made in memory first. */
sbps_status grouped_write(const table_job *job, const file_list *files, const rows_spec *spec,
                          sbps_error *err);

#endif
