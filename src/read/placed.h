/* Columns of numbers in memory, row by row straight to their places in the table. */
#ifndef READ_PLACED_H
#define READ_PLACED_H

#include "read/field_reader.h"

/* All n rows of the reader, which is to have read none yet. *out is NULL for a table that is not made this way: small, with
 * categories or functions of all rows, with rows dropped, or sparse; the reader is then as it was. */
sbps_status placed_create(field_reader *r, const field *fields, size_t n, rows **out,
                          sbps_error *err);

#endif
