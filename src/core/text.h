/* Text that grows. A failed allocation is remembered and told once, when the text is handed over. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include "core/status.h"

#include <stdarg.h>

typedef struct {
    char *data; /* NULL while empty, else ends with a zero */
    size_t length, capacity;
    bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(text *t, const char *format, va_list values);
void text_bytes(text *t, const char *bytes, size_t count);
/* A name, its control characters as '?'. */
void text_name(text *t, const char *name);
/* A field of CSV, quoted as RFC 4180 asks when it holds a comma, a quote or a line break. */
void text_csv_field(text *t, const char *field);
void text_spaces(text *t, size_t count);
/* Forgets everything after the first `length` bytes. */
void text_cut(text *t, size_t length);
/* Hands the bytes over, to be freed (an empty text is ""); NULL when memory ran out on the way. */
char *text_take(text *t);
/* The same, as a status. */
sbps_status text_give(text *t, char **out, sbps_error *err);
void text_free(text *t);

/* A name of any length: a short one in `brief`, a longer one in memory of its own. Begins as {0}; clear it. */
typedef struct {
    char brief[256];
    char *longer;
} made_name;

/* Replaces the name; NULL: no memory. */
const char *name_make(made_name *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void name_clear(made_name *of);

#endif
