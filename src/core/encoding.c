/* UTF-8 as RFC 3629 has it. Text that is not is nearly always Latin-1 or Windows-1252, which differ
 * in 0x80 to 0x9f only, where Latin-1 has no letters; a byte without a character becomes '?'. */
#include "core/encoding.h"

#include <stdlib.h>
#include <string.h>

/* 0x80 to 0x9f of Windows-1252; 0: no character. */
static const uint16_t windows[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* The same of Latin-1, where they are controls. */
static const uint16_t latin1[32] = {0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
                                    0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
                                    0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
                                    0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f};

/* Bytes of the character that begins here; 0: none does. */
static size_t character_length(const unsigned char *p, size_t left)
{
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
    const unsigned char *p = (const unsigned char *)bytes, *end = p + length;
    while (p < end) {
        size_t step = character_length(p, (size_t)(end - p));
        if (step == 0) return false;
        p += step;
    }
    return true;
}

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
