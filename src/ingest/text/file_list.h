/* The files that a table is read from: their names, and the contents of pipes among them. */
#ifndef INGEST_FILE_LIST_H
#define INGEST_FILE_LIST_H

#include "core/ranks/ranks.h"
#include "ingest/schema/rows_spec.h"
#include "ingest/text/text_file.h"

typedef struct file_list {
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

/* ---- checks that all ranks find the same files under the given names ---- */

/* Compares the number of files, their sizes, and hashes of blocks spread over each. Collective:
 * every rank calls it, and all fail with the same message, about the first rank that differs
 * from rank 0. A file that a rank cannot open is not compared; reading reports it. Nor are
 * packed files; see rows_distribute for their tables. */
sbps_status same_files_check(const file_list *files, ranks *among, sbps_error *err);

#endif
