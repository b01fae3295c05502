/* Opens a table that `sbps convert` wrote, and checks options against those it was converted
 * with. */
#ifndef INGEST_CONVERTED_H
#define INGEST_CONVERTED_H

#include "ingest/schema/rows_spec.h"
#include "table/rows.h"

/* Maps the table at `path` into *out, which the caller owns. Fails if an option of `spec`
 * contradicts those of the conversion. */
sbps_status converted_read(const char *path, const rows_spec *spec, rows **out,
                           sbps_error *err);
/* Copies a comma list without the blanks around its names; the caller frees it. NULL: no
 * memory. */
char *table_list(const char *list);

#endif
