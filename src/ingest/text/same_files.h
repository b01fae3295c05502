/* Whether all ranks see the same files under the names that they were given. */
#ifndef INGEST_SAME_FILES_H
#define INGEST_SAME_FILES_H

#include "core/ranks/ranks.h"
#include "ingest/text/file_list.h"

/* Compares the number of files, their sizes and hashes of blocks spread over each. Every rank calls it, and all fail
 * with the same sentence, which names the first rank that differs from rank 0, and the file. A file that a rank cannot
 * open is left to reading, which says why. Packed files are not compared: their tables are, see rows_distribute. */
sbps_status same_files_check(const file_list *files, ranks *among, sbps_error *err);

#endif
