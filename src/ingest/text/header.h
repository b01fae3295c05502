/* What the first lines of a delimited file say: what stands between cells, what columns are called. */
#ifndef INGEST_HEADER_H
#define INGEST_HEADER_H

#include "ingest/schema/column_schema.h"

/* What stands between the cells of the lines [begin, end): ',' '\t' ';' '|' or ' ', which stands for
 * any run of blanks and tabs. */
char header_separator(const char *begin, const char *end);
/* x1, x2, ... for a file without a header. */
sbps_status header_number(columns *c, sbps_error *err);
/* Gives the second column of a name, the third, ... names of their own, with a note. */
sbps_status header_distinguish(columns *c, sbps_error *err);

/* A first column without a name holds those of the rows: it is left out, with a note. */
sbps_status header_row_names(columns *c, sbps_error *err);

#endif
