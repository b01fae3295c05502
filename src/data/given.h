/* Rows that stay where a caller has them. */
#ifndef DATA_GIVEN_H
#define DATA_GIVEN_H

#include "data/rows.h"

#define GIVEN_DOUBLES ((size_t)4096) /* of a block of rows, on the stack: the longest row */

/* Rows as `stride` doubles each, one after another. */
void given_rows(const rows *data, row_range r, double *out);

#endif
