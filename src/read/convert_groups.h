/* Tables with groups on disk. */
#ifndef READ_CONVERT_GROUPS_H
#define READ_CONVERT_GROUPS_H

#include "read/convert.h"
#include "read/table_files.h"

/* Reads the files and writes their table, whose rows lie in groups: it is made in memory first. */
sbps_status grouped_write(const table_job *job, const file_list *files, const rows_spec *spec,
                          sbps_error *err);

#endif
