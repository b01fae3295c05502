/* The C locale is a constant of the C library: newlocale and freelocale cost nothing for it and
 * do not fail. */
#include "core/decimal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- canonical form ---- */

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Copies the digits from *at on to `to`; returns their number. */
static size_t take_digits(const char **at, const char *end, char *to)
{
    size_t count = 0;
    for (; *at < end && is_digit(**at); ++*at) to[count++] = **at;
    return count;
}

/* Reads the exponent after e. Returns false if it is no integer, or if it has more than six
 * digits. */
static bool take_power(const char **at, const char *end, long *power)
{
    bool negative = *at < end && **at == '-';
    size_t count = 0;
    if (*at < end && (**at == '-' || **at == '+')) ++*at;
    for (*power = 0; *at < end && is_digit(**at) && count < 6; ++*at, count++)
        *power = 10 * *power + (**at - '0');
    if (negative) *power = -*power;
    return count > 0;
}

bool decimal_form(const char *begin, size_t length, size_t size, char *out)
{
    const char *at = begin, *end = begin + length;
    long power = 0;
    if (size < length + DECIMAL_FORM_EXTRA) return false;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    char *digit = out + negative;
    size_t whole = take_digits(&at, end, digit), count = whole;
    if (whole > 1 && *digit == '0') return false;
    if (at < end && *at == '.') {
        at++;
        count += take_digits(&at, end, digit + whole);
    }
    if (count == 0) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (!take_power(&at, end, &power)) return false;
    }
    if (at < end) return false;
    power -= (long)(count - whole);
    for (; count > 0 && digit[count - 1] == '0'; count--) power++;
    size_t zeros = 0;
    while (zeros < count && digit[zeros] == '0') zeros++;
    memmove(digit, digit + zeros, count - zeros);
    count -= zeros;
    if (count == 0) return strcpy(out, "0"), true;
    *out = negative ? '-' : *out;
    snprintf(digit + count, DECIMAL_FORM_EXTRA, "E%ld", power);
    return true;
}

/* ---- ten digits ----
 *
 * %.10g without the C library's exact arithmetic. The value is multiplied by a power of ten in
 * 64-bit long double, so that ten digits stand before the point; the error is then below 2^-29.
 * The product is rounded unless its fraction is so close to 1/2 that this error matters. Such
 * values, and those outside [1e-17, 1e9), are printed by the C library. */

#define DIGITS    10
#define POWER_MAX 27       /* 5^27 has 63 bits */
#define CLOSE     0x1p-27L /* distance of a fraction from 1/2 that rounding errors may decide */

typedef struct {
    uint64_t number; /* DIGITS digits */
    int exponent;    /* decimal exponent of the first */
} digits;

static const long double power[POWER_MAX + 1] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
    1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
    1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L,
};

/* Finds the ten digits of a positive value; returns false if the C library must print it. */
static bool find_digits(double value, digits *out)
{
    int binary, shift;
    if (LDBL_MANT_DIG < 64 || !(value >= 1e-17 && value < 1e9)) return false;
    frexp(value, &binary);
    shift = DIGITS - 1 - (int)floor((binary - 1) * 0.30102999566398120);
    if (shift > POWER_MAX) return false;
    long double scaled = (long double)value * power[shift];
    if (scaled >= power[DIGITS]) scaled = (long double)value * power[--shift];
    uint64_t whole = (uint64_t)scaled;
    long double rest = scaled - (long double)whole;
    if (fabsl(rest - 0.5L) < CLOSE) return false;
    whole += rest > 0.5L;
    if (whole == 10000000000u) {
        whole = 1000000000u;
        shift--;
    }
    *out = (digits){whole, DIGITS - 1 - shift};
    return whole >= 1000000000u;
}

/* Writes the digits with a decimal point, as in 0.0123 or 12.3; returns the length. */
static size_t put_fixed(char *text, const char *digit, size_t count, int exponent)
{
    size_t at = 0;
    if (exponent < 0) {
        memcpy(text, "0.000", (size_t)(1 - exponent));
        at = (size_t)(1 - exponent);
        memcpy(text + at, digit, count);
        return at + count;
    }
    size_t before = (size_t)exponent + 1;
    memcpy(text, digit, before);
    if (count <= before) return before;
    text[before] = '.';
    memcpy(text + before + 1, digit + before, count - before);
    return count + 1;
}

/* Writes the digits as in 1.23e-07, for exponents below -4; returns the length. */
static size_t put_scientific(char *text, const char *digit, size_t count, int exponent)
{
    size_t at = 0, size = (size_t)-exponent;
    text[at++] = digit[0];
    if (count > 1) text[at++] = '.';
    memcpy(text + at, digit + 1, count - 1);
    at += count - 1;
    text[at++] = 'e';
    text[at++] = '-';
    text[at++] = (char)('0' + size / 10);
    text[at++] = (char)('0' + size % 10);
    return at;
}

size_t ten_digits(char *text, double value)
{
    digits d;
    char digit[DIGITS];
    size_t count = DIGITS, sign = value < 0.0;
    if (!find_digits(fabs(value), &d))
        return (size_t)decimal_print(text, TEN_DIGITS_SIZE, "%.10g", value);
    for (size_t k = DIGITS; k-- > 0; d.number /= 10) digit[k] = (char)('0' + d.number % 10);
    while (count > 1 && digit[count - 1] == '0') count--;
    if (sign) *text = '-';
    return sign + (d.exponent < -4 ? put_scientific : put_fixed)(text + sign, digit, count,
                                                                 d.exponent);
}

/* ---- numbers as R prints them ----
 *
 * Numbers as R prints them: fixed notation unless it is wider than scientific notation (scipen
 * = 0). */

/* Returns the significant digits needed, at most `digits_max`, and the exponent of the first. */
static int needed_digits(double value, int digits_max, int *exponent)
{
    char full[40];
    decimal_print(full, sizeof full, "%.*e", digits_max - 1, value);
    char *e = strchr(full, 'e');
    *exponent = atoi(e + 1);
    int needed = digits_max;
    for (char *c = e - 1; needed > 1 && *c == '0'; c--) needed--;
    return needed;
}

number_shown number_as_written(double value, int digits_max)
{
    number_shown s;
    int exponent;
    if (!isfinite(value)) {
        decimal_print(s.text, sizeof s.text, "%s",
                      isnan(value) ? "NaN"
                      : value > 0  ? "Inf"
                                   : "-Inf");
        return s;
    }
    int needed = needed_digits(value, digits_max, &exponent);
    int decimals = needed - 1 - exponent > 0 ? needed - 1 - exponent : 0;
    int fixed = (exponent >= 0 ? exponent + 1 : 1) + (decimals ? decimals + 1 : 0);
    int scientific = needed + (needed > 1) + (abs(exponent) >= 100 ? 5 : 4);
    if (fixed <= scientific)
        decimal_print(s.text, sizeof s.text, "%.*f", decimals, value);
    else
        decimal_print(s.text, sizeof s.text, "%.*e", needed - 1, value);
    return s;
}

number_shown number_as_level(double value)
{
    number_shown s = number_as_written(value, 15);
    bool whole = value == floor(value) && fabs(value) < 1e18;
    if (whole && decimal_read(s.text, NULL) != value)
        decimal_print(s.text, sizeof s.text, "%.0f", value);
    return s;
}
