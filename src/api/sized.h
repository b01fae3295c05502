/* Structs that callers allocate carry their size in their first member: a program that was built with an earlier header has
 * fewer members behind it. */
#ifndef API_SIZED_H
#define API_SIZED_H

#include "core/status.h"

/* What a caller gives, with 0 for members that its header does not have, into `full`, `size` bytes. Members beyond those known
 * here, and no size at all, are refused. */
sbps_status sized_take(const char *type, const void *source, size_t size, void *full,
                       sbps_error *err);

/* What a caller gets: as much of `full` as its struct has room for. One without a size gets nothing. */
void sized_give(const void *full, size_t size, void *out);

/* The same where a caller can be told that its struct has no size. */
sbps_status sized_check(const char *type, const void *out, sbps_error *err);

#endif
