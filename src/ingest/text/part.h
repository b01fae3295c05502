/* A part of a plain file, read by itself. */
#ifndef INGEST_PART_H
#define INGEST_PART_H

#include "ingest/schema/chunks.h"
#include "ingest/text/source.h"

#define PART_BYTES                                                                             \
    ((size_t)4 * 256 * 1024 - 8192) /* four buffers of text hold it and a last record */

/* How a file is cut. */
typedef struct {
    size_t first, size; /* bytes of the file: of the first row, of all */
    size_t bytes;       /* of a part */
} part_layout;

typedef struct {
    text_file view;
    column_schema schema;
    chunks rows;
    size_t begin, end,
        stop; /* first byte, byte behind the last record, and that of the range */
    size_t lines, kept, dropped;
    bool ready, whole;
} part;

size_t part_count(const part_layout *how);
/* Bytes of a part, from `begin`. */
size_t part_begin(const part_layout *how, size_t index);
size_t part_stop(const part_layout *how, size_t index);

/* To the first line that begins in the range; false: none does. */
bool part_find_line(text_file *t, size_t begin, size_t stop);

/* Close it also after a failure: no memory. */
bool part_open(const row_source *s, bool packed, part *p);
/* The records that begin in the part into p->rows, which must be empty; `whole` where nothing was wrong. Where
 * the first one begins is a guess but for the first part: behind the first line break. */
void part_read(const row_source *s, const part_layout *how, size_t index, part *p);
void part_close(part *p);

#endif
