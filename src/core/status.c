/* Errors: a status code and a sentence, cut at a whole character if it is too long. */
#include "core/status.h"

#include "core/decimal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *status_text(sbps_status status)
{
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) [name] = text,
        SBPS_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    };
    size_t index = (size_t)status;
    return index < sizeof texts / sizeof *texts ? texts[index] : "unknown status";
}

/* Removes an incomplete UTF-8 character from the end of a text that was cut. */
static void drop_incomplete(char *text)
{
    size_t length = strlen(text), at = length;
    while (at > 0 && length - at < 3 && ((unsigned char)text[at - 1] & 0xc0) == 0x80) at--;
    unsigned char first = at > 0 ? (unsigned char)text[at - 1] : 0;
    size_t whole = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first >= 0xc0 && length - (at - 1) < whole) text[at - 1] = '\0';
}

sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    int length = decimal_print_list(err->text, sizeof err->text, format, arguments);
    if (length < 0)
        err->text[0] = '\0';
    else if ((size_t)length >= sizeof err->text)
        drop_incomplete(err->text);
    va_end(arguments);
    return status;
}

sbps_status fail_memory(sbps_error *err)
{
    return fail(err, SBPS_NO_MEM, "%s", status_text(SBPS_NO_MEM));
}
