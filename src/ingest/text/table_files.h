/* Several files with the same columns, read one after another as one table. */
#ifndef INGEST_TABLE_FILES_H
#define INGEST_TABLE_FILES_H

#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"

/* Opens the first file, whose schema is used for all, after the first rows of every file have
 * been used to infer types. Close *first also after a failure. */
sbps_status table_files_open(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, sbps_error *err);
/* Opens one of several files with a schema of its own. Fails unless its columns have the names
 * of those of `first`; NULL: it is the first. Close *s also after a failure. */
sbps_status table_file_open(const text_input *from, const rows_spec *spec, column_types *types,
                            const row_source *first, row_source *s, sbps_error *err);
/* Reads the rows of all files; `first` counts those kept and dropped. */
sbps_status table_files_read(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, const row_taker *to, sbps_error *err);

#endif
