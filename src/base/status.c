/* Errors are a code and a sentence. */
#include "base/status.h"

#include "base/decimal.h"

#include <stdarg.h>
#include <stdio.h>

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

sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    if (decimal_print_list(err->text, sizeof err->text, format, arguments) < 0)
        err->text[0] = '\0';
    va_end(arguments);
    return status;
}

sbps_status fail_memory(sbps_error *err)
{
    return fail(err, SBPS_NO_MEM, "%s", status_text(SBPS_NO_MEM));
}
