/* The C locale is a constant of the C library: making and freeing it costs nothing and does not
 * fail. */
#include "core/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double decimal_read(const char *text, char **end)
{
    locale_t plain = plain_locale();
    double value = strtod_l(text, end, plain);
    freelocale(plain);
    return value;
}

int decimal_print_list(char *text, size_t size, const char *format, va_list values)
{
    locale_t plain = plain_locale(), before = uselocale(plain);
    int length = vsnprintf(text, size, format, values);
    uselocale(before);
    freelocale(plain);
    return length;
}

int decimal_print(char *text, size_t size, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = decimal_print_list(text, size, format, values);
    va_end(values);
    return length;
}

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
