/* AVX-512 (F, DQ, VL): eight doubles at a time. In row products one register holds the four
 * lanes of the product with p beside the four of the product with q. */
#include "base/kernels.h"

#if defined(__x86_64__)

#include "base/kernels_ymm.h"

#define KERNEL_TABLE kernels_avx512
#define KERNEL_ISA   "avx512"
#define WIDE         8
#define ROW_BLOCK    8

typedef __m512d wide;

static inline wide wide_set(double a)
{
    return _mm512_set1_pd(a);
}

static inline wide wide_load(const double *x)
{
    return _mm512_loadu_pd(x);
}

static inline void wide_store(double *out, wide a)
{
    _mm512_storeu_pd(out, a);
}

static inline __mmask8 first_lanes(size_t m)
{
    return (__mmask8)((1u << m) - 1);
}

static inline wide wide_load_part(size_t m, const double *x)
{
    return _mm512_maskz_loadu_pd(first_lanes(m), x);
}

static inline void wide_store_part(size_t m, double *out, wide a)
{
    _mm512_mask_storeu_pd(out, first_lanes(m), a);
}

static inline wide wide_fma(wide a, wide b, wide c)
{
    return _mm512_fmadd_pd(a, b, c);
}

static inline wide wide_minus_abs(wide a)
{
    return _mm512_or_pd(a, _mm512_set1_pd(-0.0));
}

static inline wide wide_where_le(wide a, wide b, wide yes, wide no)
{
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ), no, yes);
}

static inline wide wide_times_power(wide y, wide t)
{
    const __m512i power = _mm512_slli_epi64(_mm512_castpd_si512(t), 52);
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(y), power));
}

/* Four lanes of a row, twice. */
static inline wide twice(const double *x)
{
    return _mm512_broadcast_f64x4(_mm256_loadu_pd(x));
}

/* The sums of a, b, c, d, each folded as (l0 + l1) + (l2 + l3): in the low half those of their
 * low halves, in the high half those of their high halves. */
static inline wide fold_halves(wide a, wide b, wide c, wide d)
{
    const wide ab = _mm512_unpacklo_pd(a, b) + _mm512_unpackhi_pd(a, b); /* a01 b01 a23 b23 | */
    const wide cd = _mm512_unpacklo_pd(c, d) + _mm512_unpackhi_pd(c, d);
    const __m512i front = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i back = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    return _mm512_permutex2var_pd(ab, front, cd) + _mm512_permutex2var_pd(ab, back, cd);
}

static inline void store_halves(double *low, double *high, wide a)
{
    _mm256_storeu_pd(low, _mm512_castpd512_pd256(a));
    _mm256_storeu_pd(high, _mm512_extractf64x4_pd(a, 1));
}

static inline void row_block_single(const double *const row[ROW_BLOCK], size_t stride,
                                    const double *p, double *eta)
{
    four_rows_single(row, stride, p, eta);
    four_rows_single(row + 4, stride, p, eta + 4);
}

static inline void row_block_pair(const double *const row[ROW_BLOCK], size_t stride,
                                  const double *p, const double *q, double *eta, double *deta)
{
    wide a = wide_set(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t j = 0; j < stride; j += KERNEL_LANES) {
        const wide along =
            _mm512_insertf64x4(_mm512_castpd256_pd512(quad_load(p + j)), quad_load(q + j), 1);
        a = wide_fma(twice(row[0] + j), along, a);
        b = wide_fma(twice(row[1] + j), along, b);
        c = wide_fma(twice(row[2] + j), along, c);
        d = wide_fma(twice(row[3] + j), along, d);
        e = wide_fma(twice(row[4] + j), along, e);
        f = wide_fma(twice(row[5] + j), along, f);
        g = wide_fma(twice(row[6] + j), along, g);
        h = wide_fma(twice(row[7] + j), along, h);
    }
    store_halves(eta, deta, fold_halves(a, b, c, d));
    store_halves(eta + 4, deta + 4, fold_halves(e, f, g, h));
}

#include "base/kernels_body.h"

#endif
