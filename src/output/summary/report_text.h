/* What reports add to a text: numbers as people read them, paragraphs. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include "core/text.h"

/* A name, and spaces up to the width of its column; a name as wide or wider gets none. */
void text_padded_name(text *t, const char *name, size_t columns);
/* A whole number, or a measure to three digits; "unknown" when it is NAN. */
void text_count(text *t, double count);
void text_measure(text *t, double value);
/* A measure and its standard error, which is left out when it is NAN or 0. */
void text_estimate(text *t, double value, double error);
/* Adds words, broken between words so that lines stay within `columns`; the first line starts
 * where the text stands and each later one after `indent` spaces. Ends the line. */
void text_paragraph(text *t, size_t columns, size_t indent, const char *words);

/* Columns of a terminal that the name takes. */
size_t text_columns(const char *bytes);

#endif
