/* Decimal text to double.
 *
 * The text is w 10^e with an integer w. There are three cases, each correctly rounded:
 *   w <= 2^53 and |e| <= 22: w and 10^|e| are doubles, so one multiplication or division is
 *     rounded once (Clinger 1990);                                                        (1)
 *   w < 10^19 and |e| <= 27: 5^27 < 2^64, so w 5^e is a quotient or a product of 64-bit
 *     integers; its leading 64 bits, the last one made sticky, are rounded once to 53;      (2)
 *   otherwise strtod_l.
 * (2) is what files written with %.17g need: e >= -27 holds down to 1e-11. Powers of two are
 * applied exactly, since no result of (2) comes near the ends of the exponent range.
 * Rounding is to nearest, as everywhere in the library. */
#include "ingest/schema/number.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EXACT_TEN = 22, EXACT_FIVE = 27, EXACT_DIGITS = 19 };

__extension__ typedef unsigned __int128 wide;

static const double tens[EXACT_TEN + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t fives[EXACT_FIVE + 1] = {
    1ull,
    5ull,
    25ull,
    125ull,
    625ull,
    3125ull,
    15625ull,
    78125ull,
    390625ull,
    1953125ull,
    9765625ull,
    48828125ull,
    244140625ull,
    1220703125ull,
    6103515625ull,
    30517578125ull,
    152587890625ull,
    762939453125ull,
    3814697265625ull,
    19073486328125ull,
    95367431640625ull,
    476837158203125ull,
    2384185791015625ull,
    11920928955078125ull,
    59604644775390625ull,
    298023223876953125ull,
    1490116119384765625ull,
    7450580596923828125ull,
};

/* Returns 2^s for -1022 <= s <= 1023. */
static double power_of_two(int s)
{
    uint64_t bits = (uint64_t)(1023 + s) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* (2). With a = w 2^i and b = 5^k 2^j in [2^63, 2^64) the quotient
 * q = a 2^63 / b has at least 63 bits, so its sticky last bit lies below the rounding. */
double number_divided(uint64_t w, int k)
{
    int i = __builtin_clzll(w), j = __builtin_clzll(fives[k]);
    uint64_t b = fives[k] << j;
    wide a = (wide)(w << i) << 63;
    uint64_t q = (uint64_t)(a / b);
    uint64_t sticky = a != (wide)q * b;
    return (double)(q | sticky) * power_of_two(j - i - 63 - k);
}

/* Returns w 10^k, rounded once: (2). */
static double multiply_tens(uint64_t w, int k)
{
    wide product = (wide)w * fives[k];
    uint64_t high = (uint64_t)(product >> 64);
    if (high == 0) return (double)(uint64_t)product * power_of_two(k);
    int i = __builtin_clzll(high);
    product <<= i;
    uint64_t sticky = (uint64_t)product != 0;
    return (double)((uint64_t)(product >> 64) | sticky) * power_of_two(64 - i + k);
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Appends the digits at `p` to *w, which wraps after 19 digits; returns their end. */
static const char *read_digits(const char *p, uint64_t *w)
{
    uint64_t v = *w;
    for (; is_digit(*p); p++) v = 10 * v + (uint64_t)(*p - '0');
    *w = v;
    return p;
}

/* Adds the exponent at `p`, if there is one, to *e; returns its end. Clamped far outside the
 * range of doubles. */
static const char *read_exponent(const char *p, int64_t *e)
{
    if ((*p | 32) != 'e') return p;
    const char *q = p + 1;
    bool negative = *q == '-';
    if (*q == '-' || *q == '+') q++;
    if (!is_digit(*q)) return p;
    int64_t value = 0;
    for (; is_digit(*q); q++)
        if (value < INT64_C(1000000000000)) value = 10 * value + (*q - '0');
    *e += negative ? -value : value;
    return q;
}

/* Returns the number of digits after leading zeros. */
static size_t significant_digits(const char *p, const char *end)
{
    size_t count = 0;
    for (; p < end && (is_digit(*p) || *p == '.'); p++)
        if (*p != '.' && (count > 0 || *p != '0')) count++;
    return count;
}

const char *number_read(const char *text, locale_t c_locale, double *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    uint64_t w = 0;
    int64_t e = 0;
    const char *p = read_digits(digits, &w);
    size_t count = (size_t)(p - digits);
    if (*p == '.') {
        const char *fraction = p + 1;
        p = read_digits(fraction, &w);
        e = fraction - p;
        count += (size_t)(p - fraction);
    }
    if (count == 0) return NULL;
    p = read_exponent(p, &e);
    double value;
    if (count > EXACT_DIGITS && significant_digits(digits, p) > EXACT_DIGITS) goto slow;
    if (w <= UINT64_C(1) << 53 && -EXACT_TEN <= e && e <= EXACT_TEN)
        value = e < 0 ? (double)w / tens[-e] : (double)w * tens[e];
    else if (w == 0)
        value = 0.0;
    else if (-EXACT_FIVE <= e && e <= EXACT_FIVE)
        value = e < 0 ? number_divided(w, (int)-e) : multiply_tens(w, (int)e);
    else
        goto slow;
    *out = *text == '-' ? -value : value;
    return p;
slow:
    *out = strtod_l(text, NULL, c_locale);
    return p;
}

/* Returns whether [begin, end) is `text`, in any case. */
static bool equals_nocase(const char *begin, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - begin) == length && strncasecmp(begin, text, length) == 0;
}

bool text_is_infinite(const char *begin, const char *end)
{
    if (begin == end) return false;
    begin += *begin == '-' || *begin == '+';
    return equals_nocase(begin, end, "inf") || equals_nocase(begin, end, "infinity");
}
