/* Storages double, float and sparse; the kinds themselves are listed in rows.h. */
#ifndef TABLE_ROW_STORAGE_H
#define TABLE_ROW_STORAGE_H

#include "table/rows.h"

/* Converts storage double to float in place: x becomes NULL and x_float holds local_rows *
 * stride floats. The caller computes column moments and hash anew. */
void floats_from_doubles(rows *r);

#endif
