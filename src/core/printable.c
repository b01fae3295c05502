/* Names as a terminal may see them. */
#include "core/printable.h"

#include <stdint.h>
#include <string.h>

static shown show_prefix(const char *begin, const char *end, size_t limit)
{
    shown s;
    size_t length = (size_t)(end - begin);
    size_t keep = length <= limit ? length : limit;
    /* do not cut through a UTF-8 character */
    while (length > limit && keep > 0 && ((unsigned char)begin[keep] & 0xc0) == 0x80) keep--;
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)begin[i];
        s.text[i] = c < 32 || c == 127 ? '?' : (char)c;
    }
    strcpy(s.text + keep, length > limit ? "..." : "");
    return s;
}

shown show(const char *begin, const char *end)
{
    return show_prefix(begin, end, 40);
}

shown show_brief(const char *name, size_t limit)
{
    return show_prefix(name, name + strlen(name), limit < 40 ? limit : 40);
}

shown show_name(const char *name)
{
    return show(name, name + strlen(name));
}

/* ---- columns of a terminal ---- */

typedef struct {
    uint32_t first, last;
    size_t columns;
} code_range;

/* Characters that do not take one column: combining marks take none, East Asian wide characters and pictures
 * take two (Unicode Standard Annex 11, in whole blocks). Sorted. */
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

/* The next character of UTF-8 before `end`; a stray byte counts as one. */
static uint32_t next_code(const char **bytes, const char *end)
{
    unsigned char first = (unsigned char)*(*bytes)++;
    uint32_t code = first < 0xC0 ? first : first < 0xE0 ? first & 0x1F : first & 0x0F;
    while (*bytes < end && continues(**bytes))
        code = code << 6 | ((unsigned char)*(*bytes)++ & 0x3F);
    return code;
}

size_t display_columns(const char *bytes, size_t length)
{
    size_t count = 0;
    for (const char *end = bytes + length; bytes < end;)
        count += code_columns(next_code(&bytes, end));
    return count;
}
