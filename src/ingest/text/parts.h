/* All rows of a source in the order of its text, read by several at a time where it is a plain file. */
#ifndef INGEST_PARTS_H
#define INGEST_PARTS_H

#include "ingest/schema/chunks.h"
#include "ingest/text/source.h"

typedef struct {
    /* Takes the rows away (chunks_move) or is done with them when it returns. */
    sbps_status (*take)(void *self, chunks *read, sbps_error *err);
    void *self;
    bool packed; /* how they come */
} row_taker;

/* Whatever the number of threads: the same rows, levels and counts, and of several things that are wrong
 * the first. */
sbps_status parts_read(row_source *s, const rows_spec *spec, const row_taker *to,
                       sbps_error *err);
/* The same of the records that begin before the byte `stop` of a file that can be divided; the source then stands
 * behind the last of them. */
sbps_status parts_read_to(row_source *s, const rows_spec *spec, size_t stop,
                          const row_taker *to, sbps_error *err);
/* Threads that the spec asks for. */
unsigned reading_threads(const rows_spec *spec);

#endif
