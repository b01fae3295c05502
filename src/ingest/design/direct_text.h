/* Rows straight from the text to their places in the table, which are known once the lines have
 * been counted. */
#ifndef INGEST_DIRECT_TEXT_H
#define INGEST_DIRECT_TEXT_H

#include "ingest/text/source.h"
#include "table/rows.h"

/* Reads a file into a table. *done is false for a file that cannot be read this way: small or
 * packed, with categories, with dropped rows, with line breaks inside quotes, or with errors.
 * The source is then as it was. The table is the same in any case. */
sbps_status direct_read(const row_source *s, const rows_spec *spec, rows **out, bool *done,
                        sbps_error *err);

#define SCAN_BYTES ((size_t)128 * 1024)

/* Adds the line breaks among bytes from, ..., to - 1 of a file to *count; `buffer` has
 * SCAN_BYTES bytes. False: the file cannot be read. */
bool count_breaks(int file, size_t from, size_t to, char *buffer, size_t *count);
/* Returns the byte at which the rows of a file end; 0: its parts cannot be read
 * independently. */
size_t bytes_of_rows(const row_source *s);

#endif
