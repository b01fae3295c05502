/* Text that grows. A failed allocation is remembered and told once, when the text is given. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "base/status.h"

typedef struct {
    char *data; /* NULL while empty, else ends with a zero */
    size_t length, room;
    bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A name, its control characters as '?'. */
void text_name(text *t, const char *name);
/* A whole number, or a measure to three digits; "unknown" when it is NAN. */
void text_count(text *t, double count);
void text_measure(text *t, double value);
/* A measure and its standard error, which is left out when it is NAN or 0. */
void text_estimate(text *t, double value, double error);
void text_spaces(text *t, size_t count);
/* Forgets everything after the first `length` bytes. */
void text_cut(text *t, size_t length);
/* Adds words, broken between words so that lines stay within `columns`; the first line starts
 * where the text stands and each later one after `indent` spaces. Ends the line. */
void text_paragraph(text *t, size_t columns, size_t indent, const char *words);
/* Hands the bytes over (an empty text is ""), or fails when memory ran out on the way. */
sbps_status text_give(text *t, char **out, sbps_error *err);
void text_free(text *t);

/* Characters of UTF-8, as a terminal counts columns (wide ones aside). */
size_t text_columns(const char *bytes);

#endif
