/* The files of a table, one after another, by one plan. */
#ifndef INGEST_TABLE_FILES_H
#define INGEST_TABLE_FILES_H

#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"

/* Opens the first, whose plan is that of all, once the first rows of each have told their types. Close it also after a
 * failure. */
sbps_status table_files_open(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, sbps_error *err);
/* One of several, with a plan of its own; its names must be those of `first`; NULL: it is that. Close it likewise. */
sbps_status table_file_open(const text_input *from, const rows_spec *spec, column_types *types,
                            const row_source *first, row_source *s, sbps_error *err);
/* All their rows; `first` counts those kept and dropped. */
sbps_status table_files_read(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, const row_taker *to, sbps_error *err);
/* The table of them; *out is NULL after a failure. */
sbps_status rows_from_files(const file_list *files, const rows_spec *spec, rows **out,
                            sbps_error *err);

#endif
