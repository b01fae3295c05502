/* Names in messages, suggestions for misspelt names, carets below the place of an error, and
 * UTF-8 as in RFC 3629. Text that is not valid UTF-8 is nearly always Latin-1 or Windows-1252.
 * They differ in bytes 0x80 to 0x9f only, where Latin-1 has no letters; a byte without a
 * character is decoded as '?'. */
#include "core/printable.h"

#include "core/decimal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* True for every byte of UTF-8 but the first of a character. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The name with at most `limit` bytes, limit <= 40. */
static shown show_prefix(const char *begin, const char *end, size_t limit)
{
    shown s;
    size_t length = (size_t)(end - begin);
    size_t keep = length <= limit ? length : limit;
    /* a UTF-8 character is shown whole or not at all */
    while (length > limit && keep > 0 && continues(begin[keep])) keep--;
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

/* Characters that do not take one column, sorted: combining marks take none, East Asian wide
 * characters and pictures take two (Unicode Standard Annex 11, whole blocks). */
static const code_range ranges[] = {
    {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x200b, 0x200f, 0},
    {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xa960, 0xa97f, 2},
    {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},
    {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

/* Terminal columns of a character. */
static size_t code_columns(uint32_t code)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= code; i++)
        if (code <= ranges[i].last) return ranges[i].columns;
    return 1;
}

/* Reads the next UTF-8 character before `end`; a stray byte counts as a character. */
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

/* ---- misspelt names ---- */

#define NAME_LENGTH_MAX 63 /* longer words are not misspelt names */

static size_t smallest_of(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Damerau-Levenshtein distance: insertions, deletions, substitutions and exchanges of two
 * neighbours, by dynamic programming with three rows of the table. `b` has at most
 * NAME_LENGTH_MAX letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LENGTH_MAX + 1], *older = rows[0], *old = rows[1], *row = rows[2];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) old[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] =
                smallest_of(old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1]));
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && older[j - 2] + 1 < row[j]) row[j] = older[j - 2] + 1;
        }
        size_t *spare = older;
        older = old;
        old = row;
        row = spare;
    }
    return old[length];
}

/* True if `part` is what stands before a hyphen of `name`, as "batch" of "batch-size". */
static bool is_leading_part(const char *part, const char *name)
{
    size_t length = strlen(part);
    return length > 1 && !strncmp(name, part, length) && name[length] == '-';
}

/* The next letter or digit, in lower case, or 0; *at moves behind it. Bytes beyond ASCII are
 * letters. */
static int next_letter(const char **at)
{
    while (**at && (unsigned char)**at < 0x80 && !isalnum((unsigned char)**at)) (*at)++;
    return **at ? tolower((unsigned char)*(*at)++) : 0;
}

/* True if two names have the same letters and digits: intercept and (Intercept), class=suv and
 * classsuv, poly(x,2)1 and poly(x, 2)1. */
static bool same_letters(const char *a, const char *b)
{
    int letter, count = 0;
    while ((letter = next_letter(&a)) == next_letter(&b))
        if (!letter)
            return count > 0;
        else
            count++;
    return false;
}

const char *nearest_name(const char *misspelt, const char *const *names, size_t count)
{
    if (strlen(misspelt) > NAME_LENGTH_MAX) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(names[i], misspelt)) return names[i];
    for (size_t i = 0; i < count; i++)
        if (is_leading_part(misspelt, names[i])) return names[i];
    for (size_t i = 0; i < count; i++)
        if (same_letters(misspelt, names[i])) return names[i];
    size_t best =
        2 + strlen(misspelt) / 4; /* allows one error, and one more per four letters */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(names[i], misspelt);
        if (distance >= best || distance >= strlen(misspelt)) continue;
        best = distance;
        nearest = names[i];
    }
    for (size_t i = 0; !nearest && strlen(misspelt) > 1 && i < count; i++) /* an abbreviation */
        if (!strncmp(names[i], misspelt, strlen(misspelt))) nearest = names[i];
    return nearest;
}

name_hint did_you_mean(const char *separator, const char *misspelt, const char *const *names,
                       size_t count)
{
    name_hint hint = {""};
    const char *near = nearest_name(misspelt, names, count);
    if (near)
        snprintf(hint.text, sizeof hint.text, "%s did you mean '%s'?", separator,
                 show_name(near).text);
    return hint;
}

name_hint nearest_or_all(const char *misspelt, const char *const *names, size_t count)
{
    name_hint hint = did_you_mean(";", misspelt, names, count);
    if (*hint.text) return hint;
    size_t size = sizeof hint.text;
    size_t used = (size_t)snprintf(hint.text, size, "; there are ");
    for (size_t i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(hint.text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return hint;
}

/* ---- places in a text ---- */

#define SHOWN 60 /* characters of the text that are shown */

/* The number of characters in the first `bytes` bytes. */
static size_t characters(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += !continues(text[i]);
    return count;
}

/* The byte that is `count` characters after byte `from`, or the end of the text. */
static size_t skip_characters(const char *text, size_t from, size_t count)
{
    while (text[from] && count > 0) {
        from++;
        while (continues(text[from])) from++;
        count--;
    }
    return from;
}

typedef struct {
    char line[SHOWN * 4 + 8], caret[2 * SHOWN + 8];
} picture;

/* One line of text around byte `at`, and a line with a caret below that byte. */
static picture draw_caret(const char *text, size_t at)
{
    picture p = {"", ""};
    size_t before = characters(text, at),
           skip = before > SHOWN - 15 ? before - (SHOWN - 15) : 0;
    size_t begin = skip_characters(text, 0, skip), end = skip_characters(text, begin, SHOWN);
    size_t used = 0;
    const char *prefix = skip ? "..." : "", *rest = text[end] ? "..." : "";
    char shown_text[SHOWN * 4 + 1];
    for (size_t i = begin, bytes; i < end && used < sizeof shown_text - 1; i++)
        shown_text[used++] = is_control(text + i, &bytes) && bytes == 1 ? ' ' : text[i];
    shown_text[used] = '\0';
    snprintf(p.line, sizeof p.line, "%s%s%s", prefix, shown_text, rest);
    size_t blanks = display_columns(text + begin, at > begin ? at - begin : 0) + strlen(prefix);
    if (blanks > sizeof p.caret - 2) blanks = sizeof p.caret - 2;
    memset(p.caret, ' ', blanks);
    memcpy(p.caret + blanks, "^", 2);
    return p;
}

sbps_status fail_pointing(sbps_error *err, const char *what, const char *text, size_t at,
                          const char *format, va_list values)
{
    char sentence[200];
    decimal_print_list(sentence, sizeof sentence, format, values);
    picture p = draw_caret(text, at);
    return fail(err, SBPS_BAD_ARG, "%s, column %zu: %s\n  %s\n  %s", what,
                characters(text, at) + 1, sentence, p.line, p.caret);
}

/* ---- UTF-8 and one-byte encodings ---- */

/* Bytes 0x80 to 0x9f of Windows-1252; 0: no character. */
static const uint16_t windows[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* The same of Latin-1, where they are control characters. */
static const uint16_t latin1[32] = {0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
                                    0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
                                    0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
                                    0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f};

size_t utf8_length(const char *bytes, size_t left)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t length = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    if (length == 0 || *p > 0xf4 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    bool too_long = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
    bool no_character = (*p == 0xed && p[1] > 0x9f) || (*p == 0xf4 && p[1] > 0x8f);
    return too_long || no_character ? 0 : length;
}

bool is_utf8(const char *bytes, size_t length)
{
    for (const char *end = bytes + length; bytes < end;) {
        size_t count = utf8_length(bytes, (size_t)(end - bytes));
        if (count == 0) return false;
        bytes += count;
    }
    return true;
}

/* Writes a character below U+10000 in UTF-8; returns the end. */
static char *put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

char *encoding_decode(const uint16_t *high, const char *bytes, size_t size, char *to)
{
    for (size_t i = 0; i < size; i++) {
        unsigned code = (unsigned char)bytes[i];
        if (code >= 0x80 && code < 0xa0) code = high[code - 0x80] ? high[code - 0x80] : '?';
        to = put_code(to, code);
    }
    return to;
}

const uint16_t *encoding_find(const char *name)
{
    if (!strcmp(name, "latin1")) return latin1;
    return !strcmp(name, "windows-1252") ? windows : NULL;
}

char *utf8_copy(const char *bytes, size_t length)
{
    if (is_utf8(bytes, length)) return strndup(bytes, length);
    char *out = malloc(ENCODED_MAX * length + 1);
    if (out) *encoding_decode(windows, bytes, length, out) = '\0';
    return out;
}
