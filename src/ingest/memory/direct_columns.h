/* Columns of numbers in memory, row by row straight to their places in the table. */
#ifndef INGEST_DIRECT_COLUMNS_H
#define INGEST_DIRECT_COLUMNS_H

#include "ingest/memory/field_reader.h"

/* All n rows of the reader, which is to have read none yet. *out is NULL for a table that is not made this way: small, with
 * categories or functions of all rows, with rows dropped, or sparse; the reader is then as it was. */
sbps_status direct_columns_create(field_reader *r, const field *fields, size_t n, rows **out,
                                  sbps_error *err);

#endif
