/* The AVX-512 (F, DQ, VL) variant: eight doubles at a time in element-wise kernels. Sums
 * keep to four: with the lanes of both row products side by side in 512 bits, each piece of
 * a row must be broadcast to both halves, and that was slower (Zen 4: 251 ns against 211 for
 * 104 rows of 20). */
#include "linalg/kernels.h"

#if defined(__x86_64__)

#include "linalg/kernels_ymm.h"

#define KERNEL_TABLE kernels_avx512
#define KERNEL_ISA   "avx512"
#define WIDE         8
#define READ_CELLS   read_cells

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

/* A mask of the first m lanes. */
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

static inline wide wide_limit(wide a, double limit)
{
    return _mm512_max_pd(_mm512_set1_pd(-limit), _mm512_min_pd(_mm512_set1_pd(limit), a));
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

/* Stores the elements from low to high contiguously; writes a whole vector to out. */
static inline size_t wide_take(wide a, double low, double high, double *out, size_t *below)
{
    const wide from = _mm512_set1_pd(low);
    const unsigned less = _mm512_cmp_pd_mask(a, from, _CMP_LT_OQ);
    const __mmask8 own = _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(a, from, _CMP_GE_OQ), a,
                                                 _mm512_set1_pd(high), _CMP_LE_OQ);
    _mm512_storeu_pd(out, _mm512_maskz_compress_pd(own, a));
    *below += (size_t)__builtin_popcount(less);
    return (size_t)__builtin_popcount(own);
}

#include "linalg/kernels_body.h"

#endif
