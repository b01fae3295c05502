/* Sums of four lanes in one 256-bit register and products of four rows at once, for the
 * variants that have AVX2 and FMA. */
#ifndef BASE_KERNELS_YMM_H
#define BASE_KERNELS_YMM_H

#include "base/kernels.h"

#include <immintrin.h>

#define ROW_BLOCK 4

typedef __m256d quad;

static inline quad quad_set(double a)
{
    return _mm256_set1_pd(a);
}

static inline quad quad_load(const double *x)
{
    return _mm256_loadu_pd(x);
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

/* The sums of a, b, c and d, each folded as (l0 + l1) + (l2 + l3), some with the two sides of a
 * + exchanged, which changes no bit: so half of the shuffles become blends, which cost less.
 *   ab = a0+a1  b1+b0  a2+a3  b3+b2 */
static inline quad quad_fold4(quad a, quad b, quad c, quad d)
{
    const quad ab = _mm256_blend_pd(a, b, 0xa) + _mm256_shuffle_pd(a, b, 0x5);
    const quad cd = _mm256_blend_pd(c, d, 0xa) + _mm256_shuffle_pd(c, d, 0x5);
    return _mm256_blend_pd(ab, cd, 0xc) + _mm256_permute2f128_pd(ab, cd, 0x21);
}

static inline void row_block_single(const double *const row[ROW_BLOCK], size_t stride,
                                    const double *p, double *eta)
{
    quad a = quad_set(0), b = a, c = a, d = a;
    for (size_t j = 0; j < stride; j += KERNEL_LANES) {
        const quad along = quad_load(p + j);
        a = quad_fma(quad_load(row[0] + j), along, a);
        b = quad_fma(quad_load(row[1] + j), along, b);
        c = quad_fma(quad_load(row[2] + j), along, c);
        d = quad_fma(quad_load(row[3] + j), along, d);
    }
    quad_store(eta, quad_fold4(a, b, c, d));
}

static inline void row_block_pair(const double *const row[ROW_BLOCK], size_t stride,
                                  const double *p, const double *q, double *eta, double *deta)
{
    quad a = quad_set(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t j = 0; j < stride; j += KERNEL_LANES) {
        const quad along_p = quad_load(p + j), along_q = quad_load(q + j);
        const quad row0 = quad_load(row[0] + j), row1 = quad_load(row[1] + j);
        const quad row2 = quad_load(row[2] + j), row3 = quad_load(row[3] + j);
        a = quad_fma(row0, along_p, a);
        b = quad_fma(row1, along_p, b);
        c = quad_fma(row2, along_p, c);
        d = quad_fma(row3, along_p, d);
        e = quad_fma(row0, along_q, e);
        f = quad_fma(row1, along_q, f);
        g = quad_fma(row2, along_q, g);
        h = quad_fma(row3, along_q, h);
    }
    quad_store(eta, quad_fold4(a, b, c, d));
    quad_store(deta, quad_fold4(e, f, g, h));
}

#endif
