/* Looking columns up by name. */
#ifndef INGEST_COLUMN_INDEX_H
#define INGEST_COLUMN_INDEX_H

#include "ingest/schema/column_schema.h"

typedef struct {
    const char *name;
    size_t column;
} named_column;

/* The named columns sorted by name. */
typedef struct {
    named_column *entry;
    size_t count;
} column_index;

/* Fails for a name that occurs twice. */
sbps_status column_index_create(const char *path, const columns *c, column_index *out,
                                sbps_error *err);
/* The column that `option` calls `word`, or a sentence with the nearest name. */
sbps_status column_index_find(const column_index *x, const char *path, const char *option,
                              const char *name, size_t *column, sbps_error *err);
/* The next name of a comma list, trimmed, into `word`, which has room for the list; false past the
 * end. *list moves on. A name with a comma stands in quotes, or has a backslash before it. */
bool next_in_list(const char **list, char *name);

#endif
