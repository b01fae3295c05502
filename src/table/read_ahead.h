/* Asking for rows before they are used: from memory into the cache, from disk into memory. Only
 * time depends on it, never a result. */
#ifndef TABLE_READ_AHEAD_H
#define TABLE_READ_AHEAD_H

#include "table/rows.h"

/* Rows in memory: n of them from `first` into the processor's cache. */
void rows_prefetch(const rows *data, size_t first, size_t n);
/* Rows on disk: whether row `first` is in memory now. True when that cannot be told. */
bool rows_present(const rows *data, size_t first);
/* Rows on disk: asks for n of them from `first`; does not wait. */
void rows_want(const rows *data, size_t first, size_t n);
/* Rows on disk: asks for what lies beside x (y, weights, offset) of all rows. */
void rows_want_beside(const rows *data);

#endif
