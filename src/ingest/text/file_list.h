/* The files that a table is made of. */
#ifndef INGEST_FILE_LIST_H
#define INGEST_FILE_LIST_H

#include "ingest/schema/rows_spec.h"
#include "ingest/text/text_file.h"

typedef struct {
    char **path;
    text_input *input; /* of each */
    size_t count;
} file_list;

/* Names and patterns such as part-*.csv, a line each; what is the name of a file is no pattern. A single name
 * need not be that of a file. The same file under two names is refused. Pipes among them are read now and kept, as
 * `spec` has it watched. Clear it also after a failure. */
sbps_status file_list_create(const char *names, const rows_spec *spec, file_list *out,
                             sbps_error *err);
void file_list_clear(file_list *l);

#endif
