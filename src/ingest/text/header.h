/* The first lines of a delimited file: the separator and the names of the columns. */
#ifndef INGEST_HEADER_H
#define INGEST_HEADER_H

#include "ingest/schema/column_schema.h"

/* Returns the separator of the lines [begin, end): ',' '\t' ';' '|', or ' ' for any run of
 * blanks and tabs. */
char header_separator(const char *begin, const char *end);
/* Names the columns of a file without a header x1, x2, ... */
sbps_status header_number(columns *c, sbps_error *err);
/* Renames the second and later columns of one name, and adds a note about it. */
sbps_status header_distinguish(columns *c, sbps_error *err);
/* Marks a first column without a name as row names, which are left out, and adds a note about
 * it. */
sbps_status header_row_names(columns *c, sbps_error *err);

#endif
