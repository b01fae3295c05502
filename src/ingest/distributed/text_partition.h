/* The text of a table, all its files laid end to end, cut into as many stretches as there are ranks. Bytes are counted
 * without what comes before the rows of a file, from the first row of all on: positions. */
#ifndef INGEST_TEXT_PARTITION_H
#define INGEST_TEXT_PARTITION_H

#include "core/ranks/ranks.h"
#include "ingest/text/table_files.h"

typedef struct {
    size_t files;
    size_t *start; /* of each file: the byte where its rows begin, */
    size_t *size;  /* where they end, */
    size_t *base;  /* and the position of the first; that of all files is where the text ends */
    size_t from, to; /* positions: of this rank */
} text_partition;

/* The first rank measures the files. `base[files]` is 0 where they cannot be read in stretches. Close it also after a
 * failure. */
sbps_status text_partition_open(const file_list *files, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                sbps_error *err);
void text_partition_close(text_partition *c);

/* Bytes of the text. */
size_t text_partition_bytes(const text_partition *c);
/* The file that a position lies in: the last that begins there or before. */
size_t text_partition_file(const text_partition *c, size_t position);
/* The byte of file k at a position, or where its rows end. */
size_t text_partition_byte(const text_partition *c, size_t k, size_t position);
/* Line breaks of the file that this rank begins in, before its stretch; all ranks count theirs. */
sbps_status text_partition_breaks(const text_partition *c, const file_list *files, ranks *among,
                                  size_t *breaks, sbps_error *err);

#endif
