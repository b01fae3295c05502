/* Numbers and paragraphs of a report. */
#include "report/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void text_padded_name(text *t, const char *name, size_t columns)
{
    text_name(t, name);
    text_spaces(t, columns - text_columns(name));
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

/* ---- columns of a terminal ---- */

typedef struct {
    uint32_t first, last;
    size_t columns;
} code_range;

/* Those that do not take one column: marks that sit on the letter before, and East Asian wide
 * characters and pictures (Unicode Standard Annex 11, in whole blocks). Sorted. */
static const code_range ranges[] = {
    {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x200b, 0x200f, 0},
    {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xa960, 0xa97f, 2},
    {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},
    {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static size_t code_columns(uint32_t code)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= code; i++)
        if (code <= ranges[i].last) return ranges[i].columns;
    return 1;
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The next character of UTF-8; a stray byte counts as one. */
static uint32_t next_code(const char **bytes)
{
    unsigned char lead = (unsigned char)*(*bytes)++;
    uint32_t code = lead < 0xC0 ? lead : lead < 0xE0 ? lead & 0x1F : lead & 0x0F;
    while (continues(**bytes)) code = code << 6 | ((unsigned char)*(*bytes)++ & 0x3F);
    return code;
}

size_t text_columns(const char *bytes)
{
    size_t count = 0;
    while (*bytes) count += code_columns(next_code(&bytes));
    return count;
}

/* Bytes after the last line break. */
static size_t place_in_line(const text *t)
{
    size_t start = t->length;
    while (start > 0 && t->data[start - 1] != '\n') start--;
    return t->length - start;
}

void text_paragraph(text *t, size_t columns, size_t indent, const char *words)
{
    size_t place = place_in_line(t);
    bool first = true; /* on its line */
    while (*words) {
        size_t length = strcspn(words, " ");
        if (!first && place + 1 + length > columns) {
            text_bytes(t, "\n", 1);
            text_spaces(t, indent);
            place = indent;
            first = true;
        }
        if (!first) text_bytes(t, " ", 1);
        text_bytes(t, words, length);
        place += length + !first;
        first = false;
        words += length;
        words += strspn(words, " ");
    }
    text_bytes(t, "\n", 1);
}
