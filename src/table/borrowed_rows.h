/* Rows that stay where a caller has them. */
#ifndef TABLE_BORROWED_ROWS_H
#define TABLE_BORROWED_ROWS_H

#include "table/gathered_rows.h"

/* Rows as `stride` doubles each, one after another; targets are not asked for. */
void gather_borrowed(const rows *data, row_range r, double *out, double *y);

#endif
