/* Additions to a text that reports share: padded names, numbers and paragraphs. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include "core/text.h"

/* Display columns that a UTF-8 string takes on a terminal. */
size_t text_columns(const char *bytes);

/* Adds a name and spaces up to `columns` display columns; a wider name gets no spaces. */
void text_padded_name(text *t, const char *name, size_t columns);

/* Adds a whole number, or a number to three significant digits; "unknown" for NAN. */
void text_count(text *t, double count);
void text_measure(text *t, double value);

/* Adds "0.0125 +- 0.006"; the standard error is omitted where it is NAN or 0. */
void text_estimate(text *t, double value, double error);

/* Adds words, broken between words so that lines have at most `columns` columns, and a line
 * end. The first line continues the current line of t; later ones are indented by `indent`
 * spaces. */
void text_paragraph(text *t, size_t columns, size_t indent, const char *words);

#endif
