/* Sentences that point at a place of a formula. */
#include "ingest/formula/tree.h"

#include "core/printable.h"

sbps_status fail_at(const char *text, size_t at, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = fail_pointing(err, "formula", text, at, format, values);
    va_end(values);
    return status;
}
