/* Tables of kinds. A kind is a const struct whose first member is its name; a group of kinds is
 * listed by one macro, one line per kind, in the order in which users see them:
 *
 *   #define PRIOR_KINDS(X) X(prior, normal) X(prior, cauchy)
 *   PRIOR_KINDS(KIND_DECLARED)                                         declarations
 *   const prior_kind *const table[] = {PRIOR_KINDS(KIND_LISTED) NULL}; the table
 *
 * X(prior, normal) stands for the prior_kind called prior_normal. */
#ifndef CORE_KIND_TABLES_H
#define CORE_KIND_TABLES_H

#include <stddef.h>
#include <string.h>

#define KIND_DECLARED(group, kind) extern const group##_kind group##_##kind;
#define KIND_LISTED(group, kind)   &group##_##kind,
#define KIND_CHOICE(group, kind)   "|" #kind /* one value of an option */

#define KINDS_MAX 64 /* kinds of one table */

/* What all kinds have in common. */
typedef struct {
    const char *name;
} kind_base;

/* Returns the kind of a NULL-terminated table that has this name; NULL: none has. */
static inline const void *kind_find(const void *kinds, const char *name)
{
    for (const kind_base *const *kind = kinds; *kind; kind++)
        if (!strcmp((*kind)->name, name)) return *kind;
    return NULL;
}

/* Lists the names of a table's kinds, in its order; returns their number. */
static inline size_t kind_names(const void *kinds, const char *names[KINDS_MAX])
{
    size_t count = 0;
    for (const kind_base *const *kind = kinds; *kind && count < KINDS_MAX; kind++)
        names[count++] = (*kind)->name;
    return count;
}

#endif
