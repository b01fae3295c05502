/* The files that a table is read from: their names, and the contents of pipes among them. */
#ifndef INGEST_FILE_LIST_H
#define INGEST_FILE_LIST_H

#include "ingest/schema/rows_spec.h"
#include "ingest/text/text_file.h"

typedef struct {
    char **path;
    text_input *input; /* of each path */
    size_t count;
} file_list;

/* Lists the files of `names`: paths or patterns such as part-*.csv, one per line; a path that
 * exists is not a pattern. A single path need not exist. Fails if a file is listed twice, under
 * any name. Copies every pipe to an unnamed temporary file; spec->watch can stop that. Clear
 * *out also after a failure. */
sbps_status file_list_create(const char *names, const rows_spec *spec, file_list *out,
                             sbps_error *err);
/* Frees the list and closes the temporary files. */
void file_list_clear(file_list *l);

#endif
