/* Text that the user wrote: its characters (UTF-8 and one-byte encodings), and what a message
 * shows of it: names made safe for a terminal, the nearest known name for a misspelt one, and a
 * caret below the place of an error in a formula. */
#ifndef CORE_PRINTABLE_H
#define CORE_PRINTABLE_H

#include "core/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if a control character starts at `at`: C0, DEL, or C1 in UTF-8. *bytes becomes its
 * length, or 1 if it is none. Printed unchanged, a control character in a name could move the
 * cursor, change colours or fake a line of the program's own output. */
static inline bool is_control(const char *at, size_t *bytes)
{
    unsigned char c = (unsigned char)*at, next = c ? (unsigned char)at[1] : 0;
    bool c1 = c == 0xc2 && next >= 0x80 && next <= 0x9f;
    *bytes = c1 ? 2 : 1;
    return c1 || c < 0x20 || c == 0x7f;
}

/* A name as a message shows it, returned by value: at most 40 bytes, then "..." if it was cut;
 * control characters are replaced by '?'. */
typedef struct {
    char text[48];
} shown;

/* Shows the bytes [begin, end). */
shown show(const char *begin, const char *end);
/* Shows a zero-terminated name. */
shown show_name(const char *name);
/* Shows at most min(limit, 40) bytes of a name. */
shown show_brief(const char *name, size_t limit);

/* Terminal columns of `length` bytes of UTF-8: combining marks take 0, wide characters 2. */
size_t display_columns(const char *bytes, size_t length);

/* Returns the name nearest to `misspelt` by edit distance; NULL if none is near. Equal up to
 * case, and a leading part before a hyphen ("batch" of "batch-size"), count as nearest. */
const char *nearest_name(const char *misspelt, const char *const *names, size_t count);

/* The end of a sentence about an unknown name, returned by value. */
typedef struct {
    char text[320];
} name_hint;

/* Returns "<separator> did you mean 'band'?", or "" if no name is near. */
name_hint did_you_mean(const char *separator, const char *misspelt, const char *const *names,
                       size_t count);
/* Returns "; did you mean 'normal'?", or, if none is near, "; there are normal, cauchy,
 * ...". */
name_hint nearest_or_all(const char *misspelt, const char *const *names, size_t count);

/* Reports an error at byte `at` of `text`: fills `err` with "<what>, column <n>: <sentence>",
 * the line around that byte, and a caret below it. Returns SBPS_BAD_ARG. */
sbps_status fail_pointing(sbps_error *err, const char *what, const char *text, size_t at,
                          const char *format, va_list values)
    __attribute__((format(printf, 5, 0)));

/* ---- UTF-8 and one-byte encodings ---- */

/* Length in bytes of the UTF-8 character that starts at `bytes`, of which `left` may be read; 0
 * if no valid character starts there. Overlong forms and surrogates are not valid. A zero byte
 * is a character of length 1. */
size_t utf8_length(const char *bytes, size_t left);
/* True if all `length` bytes are valid UTF-8. */
bool is_utf8(const char *bytes, size_t length);
/* Returns a copy in UTF-8, which the caller frees; NULL if memory ran out. Bytes that are not
 * valid UTF-8 are read as Windows-1252. */
char *utf8_copy(const char *bytes, size_t length);

/* Table of an encoding with one byte per character ("latin1", "windows-1252"): the characters
 * of bytes 0x80 to 0x9f, 0 for none; the other bytes are those of Unicode. NULL for UTF-8 and
 * for any other name. */
const uint16_t *encoding_find(const char *name);
#define ENCODED_MAX ((size_t)3) /* bytes of UTF-8 that one byte may become */
/* Decodes `size` bytes to UTF-8 at `to` and returns the end. `to` has room for ENCODED_MAX *
 * size bytes; the input may lie at the end of that room. */
char *encoding_decode(const uint16_t *high, const char *bytes, size_t size, char *to);

#endif
