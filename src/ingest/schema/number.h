/* Decimal text to the nearest double: the same bits as strtod in the C locale, but faster.
 *
 * number_short handles [+-]digits[.digits] with up to 19 digits, leading zeros aside. It reads
 * decimals eight at a time. With the bytes of a 64-bit word as digits d0 ... d7, d0 lowest,
 *   t = 10 d + (d >> 8)                 has the pairs p_k = 10 d_k + d_{k+1} in its bytes, (1)
 *   p0 10^6 + p2 10^4 + p4 10^2 + p6    takes two multiplications of two pairs each.       (2)
 * A word of n < 8 digits is shifted up, so that zeros precede them. */
#ifndef INGEST_NUMBER_H
#define INGEST_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads [+-]digits[.digits][e[+-]digits] at `text`, which must end with a byte that cannot
 * continue a number, such as NUL. Returns the end of the number, or NULL if there is none.
 * Overflow gives an infinity. `c_locale` is the C locale, for the numbers left to strtod_l. */
const char *number_read(const char *text, locale_t c_locale, double *out);

/* Returns w / 10^k, rounded once; w > 0 and k <= 27. */
double number_divided(uint64_t w, int k);

/* Returns whether [begin, end) is inf or infinity, in any case and sign. */
bool text_is_infinite(const char *begin, const char *end);

/* ---- short numbers ---- */

static const double short_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns how many bytes of the word are digits before the first that is not. Borrows and
 * carries of a non-digit reach only the bytes after it, so the first one is marked
 * correctly. */
static inline unsigned digits_before(uint64_t word)
{
    uint64_t other = ((word + EACH_BYTE(0x46)) | (word - EACH_BYTE(0x30))) & EACH_BYTE(0x80);
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* Returns the value of eight digits, bytes 0 to 9 of d: (2). */
static inline uint64_t eight_digits(uint64_t d)
{
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    uint64_t t = 10 * d + (d >> 8);
    uint64_t odd = (t & pairs) * (100 + (UINT64_C(1000000) << 32));
    uint64_t even = (t >> 16 & pairs) * (1 + (UINT64_C(10000) << 32));
    return (odd + even) >> 32;
}

/* Reads the number at `begin` into *out. Returns its end, or NULL if it needs number_read. May
 * read, but not use, up to 8 bytes after the end. An exponent is not read: the caller checks
 * the byte at the end. */
static inline const char *number_short(const char *begin, double *out)
{
    static const uint32_t scale[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const char *p = begin + (*begin == '-' || *begin == '+'), *first = p;
    uint64_t w = 0, word;
    for (; (unsigned char)(*p - '0') < 10; p++) w = 10 * w + (uint64_t)(*p - '0');
    size_t whole = (size_t)(p - first), decimals = 0;
    size_t count = w > 0 || whole > 19 ? whole : 0;
    if (*p == '.') {
        unsigned n;
        const char *fraction = ++p;
        for (;; p += 8) {
            memcpy(&word, p, sizeof word);
            if ((n = digits_before(word)) < 8 || p - fraction >= 16) break;
            w = 100000000 * w + eight_digits(word - EACH_BYTE('0'));
        }
        if (n > 0 && n < 8)
            w = w * scale[n] + eight_digits((word & EACH_BYTE(0x0f)) << (64 - 8 * n));
        p += n;
        decimals = (size_t)(p - fraction);
    }
    count += decimals;
    if (count > 19 || whole + decimals == 0) return NULL;
    double value = w <= UINT64_C(1) << 53 ? (double)w / short_tens[decimals]
                                          : number_divided(w, (int)decimals);
    uint64_t bits, negative = (uint64_t)(*begin == '-') << 63;
    memcpy(&bits, &value, sizeof bits);
    bits |= negative;
    memcpy(out, &bits, sizeof bits);
    return p;
}

#endif
