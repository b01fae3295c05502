#include "core/decimal_form.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Digits from *at on, behind those that there are. */
static size_t take_digits(const char **at, const char *end, char *to)
{
    size_t count = 0;
    for (; *at < end && is_digit(**at); ++*at) to[count++] = **at;
    return count;
}

/* What stands behind e; false: no whole number, or a large one. */
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
