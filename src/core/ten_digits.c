/* %.10g without the C library's exact arithmetic: the value times a power of ten, of 64 bits and so with an error below 2^-29
 * where ten digits stand before the point, is rounded unless it lies so near to a half that this might matter. Numbers that it
 * cannot take, few of them in practice, go the long way. */
#include "core/decimal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define DIGITS    10
#define POWER_MAX 27 /* 5^27 has 63 bits */
#define CLOSE     0x1p-27L

typedef struct {
    uint64_t number; /* of DIGITS digits */
    int exponent;    /* of the first */
} digits;

static const long double power[POWER_MAX + 1] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
    1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
    1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L,
};

/* False: it is for the long way. */
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
