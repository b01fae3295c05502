/* The text of a table, all its files laid end to end, cut into as many stretches as there are ranks. Bytes are counted
 * without what comes before the rows of a file, from the first row of all on: positions. */
#ifndef READ_SHARE_CUT_H
#define READ_SHARE_CUT_H

#include "ranks/ranks.h"
#include "read/table_files.h"

typedef struct {
    size_t files;
    size_t *start; /* of each file: the byte where its rows begin, */
    size_t *size;  /* where they end, */
    size_t *base;  /* and the position of the first; that of all files is where the text ends */
    size_t from, to; /* positions: of this rank */
} share_cut;

/* The first rank measures the files. `base[files]` is 0 where they cannot be read in stretches. Close it also after a
 * failure. */
sbps_status share_cut_open(const file_list *files, const rows_spec *spec, column_types *found,
                           const row_source *first, share_cut *c, sbps_error *err);
void share_cut_close(share_cut *c);

/* Bytes of the text. */
size_t share_cut_bytes(const share_cut *c);
/* The file that a position lies in: the last that begins there or before. */
size_t share_cut_file(const share_cut *c, size_t position);
/* The byte of file k at a position, or where its rows end. */
size_t share_cut_byte(const share_cut *c, size_t k, size_t position);
/* Line breaks of the file that this rank begins in, before its stretch; all ranks count theirs. */
sbps_status share_cut_breaks(const share_cut *c, const file_list *files, ranks *among,
                             size_t *breaks, sbps_error *err);

#endif
