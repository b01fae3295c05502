/* Rows straight from the text to their places in the table, which are known once the lines are counted. */
#ifndef INGEST_DIRECT_TEXT_H
#define INGEST_DIRECT_TEXT_H

#include "ingest/text/source.h"

/* *done is false for a file that is not read this way: small or packed, with categories, with rows dropped, quotes over
 * lines, or something wrong; nothing has happened to the source then. What comes out is what comes out by any way. */
sbps_status direct_read(const row_source *s, const rows_spec *spec, rows **out, bool *done,
                        sbps_error *err);

#define SCAN_BYTES ((size_t)128 * 1024)

/* Adds the line breaks among bytes of a file; `look` has room for SCAN_BYTES. False: they cannot be read. */
bool count_breaks(int file, size_t from, size_t to, char *buffer, size_t *count);
/* Where the rows end of a file whose parts can be read by themselves, in bytes; 0: they cannot be. */
size_t bytes_of_rows(const row_source *s);
/* Whether it can be evaluated only when all rows are there, or has groups; NULL: it cannot. */
bool formula_waits(const formula *f);

#endif
