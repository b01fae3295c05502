/* Names as a terminal may see them. */
#ifndef CORE_PRINTABLE_H
#define CORE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a control character stands at `at`: C0, DEL, or C1 in UTF-8. *bytes is its length, or 1. A
 * name that holds one could move the cursor, change colours or pretend to be a line of ours. */
static inline bool is_control(const char *at, size_t *bytes)
{
    unsigned char c = (unsigned char)*at, next = c ? (unsigned char)at[1] : 0;
    bool c1 = c == 0xc2 && next >= 0x80 && next <= 0x9f;
    *bytes = c1 ? 2 : 1;
    return c1 || c < 0x20 || c == 0x7f;
}

/* [begin, end) fit for a sentence: at most 40 bytes, control characters as '?'. */
typedef struct {
    char text[48];
} shown;

shown show(const char *begin, const char *end);
shown show_name(const char *name);
/* At most `most` bytes of it, 40 at most. */
shown show_brief(const char *name, size_t limit);

/* Columns of a terminal that `length` bytes of UTF-8 take: combining marks 0, wide characters 2. */
size_t display_columns(const char *bytes, size_t length);

#endif
