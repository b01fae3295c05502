/* Checks that all ranks find the same files under the given names. */
#ifndef INGEST_SAME_FILES_H
#define INGEST_SAME_FILES_H

#include "core/ranks/ranks.h"
#include "ingest/text/file_list.h"

/* Compares the number of files, their sizes, and hashes of blocks spread over each. Collective:
 * every rank calls it, and all fail with the same message, about the first rank that differs
 * from rank 0. A file that a rank cannot open is not compared; reading reports it. Nor are
 * packed files; see rows_distribute for their tables. */
sbps_status same_files_check(const file_list *files, ranks *among, sbps_error *err);

#endif
