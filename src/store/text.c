/* Numbers and names in text files. */
#include "store/text.h"

#include <math.h>

sbps_status numbers_begin(number_locale *locale, sbps_error *err)
{
    locale->plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!locale->plain) return fail_memory(err);
    locale->before = uselocale(locale->plain);
    return SBPS_OK;
}

void numbers_end(number_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->plain);
}

void put_number(FILE *stream, double value)
{
    if (isnan(value))
        fputs("NaN", stream);
    else if (isinf(value))
        fputs(value < 0.0 ? "-Inf" : "Inf", stream);
    else
        fprintf(stream, "%.17g", value);
}
