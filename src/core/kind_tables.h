/* Kinds: const structs that begin with their name, listed once a room.
 *
 * A room's list is a macro with a line a kind, in the order that users see. Declarations and table,
 * which ends with NULL, are made of the same lines: X(prior, normal) is the prior_kind prior_normal. */
#ifndef CORE_KIND_TABLES_H
#define CORE_KIND_TABLES_H

#include <stddef.h>

#define KIND_DECLARED(room, kind) extern const room##_kind room##_##kind;
#define KIND_LISTED(room, kind)   &room##_##kind,
#define KIND_CHOICE(room, kind)   "|" #kind /* as an option lists its words */

/* The kind of a table that has this name; NULL: there is none. */
const void *kind_find(const void *table, const char *name);

#define KINDS_MAX 64 /* of a table whose names are asked for */

/* The names of a table's kinds, in its order; returns how many. */
size_t kind_names(const void *table, const char *names[KINDS_MAX]);

#endif
