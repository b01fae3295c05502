#include "core/caret.h"

#include "core/decimal.h"
#include "core/printable.h"
#include <stdio.h>
#include <string.h>

#define SHOWN 60 /* characters of the text around the place */

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Characters of the first `bytes`. */
static size_t characters(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += begins_character(text[i]);
    return count;
}

/* So many characters on, at most to the end. */
static size_t step(const char *text, size_t from, size_t count)
{
    while (text[from] && count > 0) {
        from++;
        while (text[from] && !begins_character(text[from])) from++;
        count--;
    }
    return from;
}

typedef struct {
    char line[SHOWN * 4 + 8], caret[2 * SHOWN + 8];
} picture;

/* The text around the place on one line, and a caret that stands below it. */
static picture draw(const char *text, size_t at)
{
    picture p = {"", ""};
    size_t before = characters(text, at),
           skip = before > SHOWN - 15 ? before - (SHOWN - 15) : 0;
    size_t begin = step(text, 0, skip), end = step(text, begin, SHOWN), used = 0;
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
    picture p = draw(text, at);
    return fail(err, SBPS_BAD_ARG, "%s, column %zu: %s\n  %s\n  %s", what,
                characters(text, at) + 1, sentence, p.line, p.caret);
}
