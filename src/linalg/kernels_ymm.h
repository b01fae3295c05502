/* Sums of four lanes in one 256-bit register, for the variants that have AVX2 and FMA. */
#ifndef LINALG_KERNELS_YMM_H
#define LINALG_KERNELS_YMM_H

#include "linalg/kernels.h"

#include <immintrin.h>

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

/* Four loads: the gather instruction is no faster on any processor tried. */
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

/* The sums of a, b, c and d, each folded as (l0 + l1) + (l2 + l3), some with the two sides of a
 * + exchanged, which changes no bit: so half of the shuffles become blends, which cost less.
 *   ab = a0+a1  b1+b0  a2+a3  b3+b2 */
static inline quad quad_fold4(quad a, quad b, quad c, quad d)
{
    const quad ab = _mm256_blend_pd(a, b, 0xa) + _mm256_shuffle_pd(a, b, 0x5);
    const quad cd = _mm256_blend_pd(c, d, 0xa) + _mm256_shuffle_pd(c, d, 0x5);
    return _mm256_blend_pd(ab, cd, 0xc) + _mm256_permute2f128_pd(ab, cd, 0x21);
}

#endif
