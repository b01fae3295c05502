/* Tables made from columns in the caller's memory without a copy of the rows in between. */
#ifndef INGEST_DIRECT_COLUMNS_H
#define INGEST_DIRECT_COLUMNS_H

#include "ingest/memory/field_reader.h"
#include "table/rows.h"

/* Reads all n rows straight to their places in a table; the reader has read none yet. *out is
 * NULL for a table that cannot be made this way: small, sparse, with categories, with
 * transforms of all rows, or with dropped rows. The reader is then as it was. */
sbps_status direct_columns_create(field_reader *r, const field *fields, size_t n, rows **out,
                                  sbps_error *err);

/* Returns whether the user asked for --storage given. */
bool borrowed_columns_requested(const rows_spec *spec);
/* Creates a table of n rows whose columns stay in the caller's memory, which is borrowed until
 * the table is destroyed. Fails where a column would have to be copied. */
sbps_status borrowed_columns_create(const field_reader *r, const field *fields, size_t n,
                                    rows **out, sbps_error *err);

#endif
