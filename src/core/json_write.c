/* Bytes that are no UTF-8 become the replacement character; numbers give the same double back. */
#include "core/decimal.h"
#include "core/json.h"

#include <math.h>
#include <stdio.h>

size_t utf8_bytes(const unsigned char *s)
{
    size_t more = s[0] < 0x80 ? 0 : s[0] < 0xC2 ? 9 : s[0] < 0xE0 ? 1 : s[0] < 0xF0 ? 2 : 3;
    if (more > 3 || s[0] > 0xF4) return 0;
    for (size_t i = 1; i <= more; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return more + 1;
}

void json_string(text *t, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    text_add(t, "\"");
    while (*s) {
        size_t bytes = utf8_bytes(s);
        if (*s == '"' || *s == '\\')
            text_add(t, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            text_add(t, "\\u%04x", (unsigned)*s);
        else if (bytes)
            text_add(t, "%.*s", (int)bytes, (const char *)s);
        else
            text_add(t, "\\ufffd");
        s += bytes ? bytes : 1;
    }
    text_add(t, "\"");
}

void json_number(text *t, double x)
{
    char digits[40];
    if (!isfinite(x)) {
        text_add(t, "null");
        return;
    }
    x += 0.0; /* -0 becomes 0 */
    decimal_print(digits, sizeof digits, "%.15g", x);
    if (decimal_read(digits, NULL) != x) decimal_print(digits, sizeof digits, "%.17g", x);
    text_add(t, "%s", digits);
}
