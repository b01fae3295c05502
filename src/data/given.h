/* Rows that stay where a caller has them. */
#ifndef DATA_GIVEN_H
#define DATA_GIVEN_H

#include "data/laid.h"

/* Rows as `stride` doubles each, one after another; targets are not asked for. */
void given_rows(const rows *data, row_range r, double *out, double *y);

#endif
