/* Groups of a table as bytes of its file; docs/files.md describes them. */
#ifndef TABLE_ROW_GROUPS_BYTES_H
#define TABLE_ROW_GROUPS_BYTES_H

#include "table/row_groups.h"

/* Of n rows; `formula` is what they were asked for by. `to` NULL: only counts. Returns the bytes, a multiple of 8. */
size_t groups_write(const row_groups *g, size_t n, const char *formula, unsigned char *to);
/* NULL: they are not sound, or memory is short. *formula lies in the bytes. */
row_groups *groups_read(const unsigned char *bytes, size_t size, size_t n,
                        const char **formula);

#endif
