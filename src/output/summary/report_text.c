/* Padded names, numbers and wrapped paragraphs of reports. */
#include "output/summary/report_text.h"

#include "core/printable.h"
#include <math.h>
#include <string.h>

void text_padded_name(text *t, const char *name, size_t columns)
{
    size_t own = text_columns(name);
    text_name(t, name);
    if (own < columns) text_spaces(t, columns - own);
}

size_t text_columns(const char *bytes)
{
    return display_columns(bytes, strlen(bytes));
}

void text_count(text *t, double count)
{
    if (isnan(count))
        text_add(t, "unknown");
    else
        text_add(t, fabs(count) < 1e9 ? "%.0f" : "%.3g", count);
}

void text_measure(text *t, double value)
{
    if (isnan(value))
        text_add(t, "unknown");
    else
        text_add(t, "%.3g", value);
}

void text_estimate(text *t, double value, double error)
{
    text_measure(t, value);
    if (error > 0.0) text_add(t, " +- %.2g", error);
}

/* Display columns of t after its last line end. */
static size_t column_in_line(const text *t)
{
    size_t start = t->length;
    while (start > 0 && t->data[start - 1] != '\n') start--;
    return display_columns(t->data ? t->data + start : "", t->length - start);
}

void text_paragraph(text *t, size_t columns, size_t indent, const char *words)
{
    size_t column = column_in_line(t);
    bool first = true; /* word of its line */
    while (*words) {
        size_t length = strcspn(words, " "), width = display_columns(words, length);
        if (!first && column + 1 + width > columns) {
            text_bytes(t, "\n", 1);
            text_spaces(t, indent);
            column = indent;
            first = true;
        }
        if (!first) text_bytes(t, " ", 1);
        text_bytes(t, words, length);
        column += width + !first;
        first = false;
        words += length;
        words += strspn(words, " ");
    }
    text_bytes(t, "\n", 1);
}
