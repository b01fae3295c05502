/* Text: a string that grows, notes for the user, and names built in memory. A failed
 * allocation is recorded in the string and reported once, when the caller takes the bytes. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include "core/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts as {0}. */
typedef struct {
    char *data; /* NULL while empty, else ends with a zero */
    size_t length, capacity;
    bool failed; /* an allocation failed; everything added later is dropped */
} text;

/* Appends formatted text. */
void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(text *t, const char *format, va_list values);
/* Appends `count` bytes. */
void text_bytes(text *t, const char *bytes, size_t count);
/* Appends a name, with '?' for each control character. */
void text_name(text *t, const char *name);
/* Appends a CSV field, quoted as in RFC 4180 if it contains a comma, a quote or a line
 * break. */
void text_csv_field(text *t, const char *field);
/* Appends `count` spaces. */
void text_spaces(text *t, size_t count);
/* Drops everything after the first `length` bytes. */
void text_cut(text *t, size_t length);
/* Returns the bytes, which the caller frees, and empties the string. Empty text is ""; NULL if
 * memory ran out on the way. */
char *text_take(text *t);
/* text_take into *out, with a status. */
sbps_status text_give(text *t, char **out, sbps_error *err);
/* Frees the bytes and empties the string. */
void text_free(text *t);

/* Appends one line to *notes, a string that the caller frees; NULL: no notes so far. */
sbps_status notes_add(char **notes, const char *format, va_list values, sbps_error *err)
    __attribute__((format(printf, 2, 0)));

/* A name of any length, built by name_format. Starts as {0}; release it with
 * name_buffer_clear. */
typedef struct {
    char brief[256]; /* holds a name that fits */
    char *longer;    /* allocated for one that does not */
} name_buffer;

/* Replaces the name and returns it, owned by `to`; NULL if memory ran out. */
const char *name_format(name_buffer *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void name_buffer_clear(name_buffer *of);

/* Returns whether a word is a spelling of true, or of false, in any case. */
bool is_truth(const char *word, bool value);

#endif
