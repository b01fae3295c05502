/* Sums of four lanes in one 256-bit register, for the variants that have AVX2 and FMA. */
#ifndef BASE_KERNELS_YMM_H
#define BASE_KERNELS_YMM_H

#include <immintrin.h>
#include <stddef.h>

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

/* The sums of a, b, c and d, each folded as (l0 + l1) + (l2 + l3). */
static inline quad quad_fold4(quad a, quad b, quad c, quad d)
{
    const quad ab = _mm256_hadd_pd(a, b); /* a01 b01 a23 b23 */
    const quad cd = _mm256_hadd_pd(c, d);
    return _mm256_permute2f128_pd(ab, cd, 0x20) + _mm256_permute2f128_pd(ab, cd, 0x31);
}

/* Products of four rows with p. */
static inline void four_rows_single(const double *const row[4], size_t stride, const double *p,
                                    double *eta)
{
    quad a = quad_set(0), b = a, c = a, d = a;
    for (size_t j = 0; j < stride; j += 4) {
        const quad along = quad_load(p + j);
        a = quad_fma(quad_load(row[0] + j), along, a);
        b = quad_fma(quad_load(row[1] + j), along, b);
        c = quad_fma(quad_load(row[2] + j), along, c);
        d = quad_fma(quad_load(row[3] + j), along, d);
    }
    quad_store(eta, quad_fold4(a, b, c, d));
}

#endif
