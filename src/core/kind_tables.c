/* Tables of kinds, whatever their type: only the name, their first member, is looked at. */
#include "core/kind_tables.h"

#include <string.h>

typedef struct {
    const char *name;
} named_kind;

const void *kind_find(const void *table, const char *name)
{
    for (const named_kind *const *kind = table; *kind; kind++)
        if (!strcmp((*kind)->name, name)) return *kind;
    return NULL;
}

size_t kind_names(const void *table, const char *names[KINDS_MAX])
{
    size_t count = 0;
    for (const named_kind *const *kind = table; *kind && count < KINDS_MAX; kind++)
        names[count++] = (*kind)->name;
    return count;
}
