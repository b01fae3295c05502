/* Shared by the AVX2 and AVX-512 variants: sums of four lanes in one 256-bit register, and
 * decimal numbers in cells of text. */
#ifndef LINALG_KERNELS_YMM_H
#define LINALG_KERNELS_YMM_H

#include "linalg/kernels.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

typedef __m256d quad;

static inline quad quad_set(double a)
{
    return _mm256_set1_pd(a);
}

static inline quad quad_load(const double *x)
{
    return _mm256_loadu_pd(x);
}

static inline quad quad_load_floats(const float *x)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

/* Four loads: the gather instruction was not faster on any processor tried. */
static inline quad quad_gather(const double *x, const uint32_t *columns)
{
    return _mm256_set_pd(x[columns[3]], x[columns[2]], x[columns[1]], x[columns[0]]);
}

static inline quad quad_load_part(size_t m, const double *x)
{
    const __m256i first =
        _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)m), _mm256_set_epi64x(3, 2, 1, 0));
    return _mm256_maskload_pd(x, first);
}

/* The first 1 <= m < 4 of them; 0 in the other lanes. */
static inline quad quad_gather_part(size_t m, const double *x, const uint32_t *columns)
{
    return _mm256_set_pd(0.0, m > 2 ? x[columns[2]] : 0.0, m > 1 ? x[columns[1]] : 0.0,
                         x[columns[0]]);
}

static inline void quad_store(double *out, quad a)
{
    _mm256_storeu_pd(out, a);
}

static inline quad quad_add(quad a, quad b)
{
    return _mm256_add_pd(a, b);
}

static inline quad quad_fma(quad a, quad b, quad c)
{
    return _mm256_fmadd_pd(a, b, c);
}

/* The sums of a, b, c and d, each folded as (l0 + l1) + (l2 + l3), some with the operands of
 * + exchanged, which changes no bit: so half of the shuffles become blends, which cost less.
 *
 *   ab = a0+a1  b1+b0  a2+a3  b3+b2 */
static inline quad quad_fold4(quad a, quad b, quad c, quad d)
{
    const quad ab = _mm256_blend_pd(a, b, 0xa) + _mm256_shuffle_pd(a, b, 0x5);
    const quad cd = _mm256_blend_pd(c, d, 0xa) + _mm256_shuffle_pd(c, d, 0x5);
    return _mm256_blend_pd(ab, cd, 0xc) + _mm256_permute2f128_pd(ab, cd, 0x21);
}

/* ---- decimal numbers in cells of text ----
 *
 * The ends of cells are found 64 bytes at a time, so that no cell waits for the previous
 * one. A cell of up to 16 bytes is loaded into one register, its last byte in the last lane;
 * the bytes before the decimal point move up one lane over it. With digits d0 ... d15 in the
 * lanes three multiply-adds compute
 *
 *   10 d0 + d1, ...      8 numbers below 10^2,                                              (1)
 *   then 4 below 10^4, then 2 below 10^8, of which one number w < 10^16.                    (2)
 *
 * Where w <= 2^53, w and the power of ten are doubles, and their quotient is rounded once
 * (Clinger 1990). */

enum { CELL_MAX = 16 };

/* A bit for each of the next 64 bytes that ends a cell. */
static inline uint64_t cell_ends(const char *text, __m256i separator, __m256i newline)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)text);
    __m256i b = _mm256_loadu_si256((const __m256i *)(text + 32));
    a = _mm256_or_si256(_mm256_cmpeq_epi8(a, separator), _mm256_cmpeq_epi8(a, newline));
    b = _mm256_or_si256(_mm256_cmpeq_epi8(b, separator), _mm256_cmpeq_epi8(b, newline));
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b)
                                                   << 32;
}

/* The number with these digits in the lanes, by (1) and (2). */
static inline uint64_t lanes_number(__m128i digits)
{
    const __m128i tens = _mm_set1_epi16(0x010a), hundreds = _mm_set1_epi32(0x00010064);
    const __m128i ten_thousands = _mm_set1_epi32(0x00012710);
    __m128i t = _mm_madd_epi16(_mm_maddubs_epi16(digits, tens), hundreds);
    t = _mm_madd_epi16(_mm_packus_epi32(t, t), ten_thousands);
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(t);
    return (uint64_t)(uint32_t)both * 100000000 + (both >> 32);
}

/* Loaded from byte k on: a shuffle that moves the first k lanes to the end, with zeros
 * before them. Also a mask of the lanes before those k. */
static const unsigned char lanes_up[32] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                           0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                           0,    1,    2,    3,    4,    5,    6,    7,
                                           8,    9,    10,   11,   12,   13,   14,   15};

static const double lane_tens[CELL_MAX] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* Reads [+-]digits[.digits] from `p` to `end`; false if it is something else, or too long. */
static inline bool cell_number(const char *p, const char *end, double *out)
{
    /* random signs: arithmetic instead of a branch */
    unsigned minus = *p == '-', plus = *p == '+';
    p += minus | plus;
    size_t length = (size_t)(end - p);
    if (length - 1 >= CELL_MAX) return false;
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
    v = _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)(lanes_up + length)));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
    unsigned other = 0xffff & ~(unsigned)_mm_movemask_epi8(digit);
    unsigned point = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('.' - '0')));
    if (other != point || (point & (point - 1)) || length == (point > 0)) return false;
    /* lanes after the decimal point; without one, as if it stood before the first */
    unsigned decimals = point ? 15 - (unsigned)__builtin_ctz(point) : CELL_MAX;
    __m128i before = _mm_loadu_si128((const __m128i *)(lanes_up + decimals));
    v = _mm_blendv_epi8(v, _mm_slli_si128(v, 1), before);
    uint64_t w = lanes_number(v);
    if (w > UINT64_C(1) << 53) return false;
    const __m128d zero = _mm_setzero_pd(), ten = _mm_load_sd(&lane_tens[decimals % CELL_MAX]);
    const __m128i sign = _mm_cvtsi64_si128((long long)((uint64_t)minus << 63));
    __m128d value = _mm_div_sd(_mm_cvtsi64_sd(zero, (long long)w), ten);
    _mm_store_sd(out, _mm_or_pd(value, _mm_castsi128_pd(sign)));
    return true;
}

/* See kernels.read_cells. */
static size_t read_cells(const char **text, const char *limit,
                         const cell_delimiters *delimiters, size_t count, const size_t *slot,
                         double *row)
{
    const __m256i separator = _mm256_set1_epi8(delimiters->separator);
    const __m256i newline = _mm256_set1_epi8('\n');
    const char *cell = *text, *window = cell;
    uint64_t ends = cell_ends(window, separator, newline);
    size_t i = 0;
    for (; i < count; i++, ends &= ends - 1) {
        while (ends == 0 && limit - window > 64)
            ends = cell_ends(window += 64, separator, newline);
        const char *end = window + (ends ? __builtin_ctzll(ends) : 64);
        char expected = i + 1 < count ? delimiters->separator : delimiters->last;
        if (end >= limit || *end != expected || !cell_number(cell, end, &row[slot[i]])) break;
        cell = end + 1;
    }
    *text = cell;
    return i;
}

#endif
