/* The AVX2 and FMA variant: four doubles at a time, in element-wise kernels as in sums. */
#include "linalg/kernels.h"

#if defined(__x86_64__)

#include "linalg/kernels_ymm.h"

#define KERNEL_TABLE kernels_avx2
#define KERNEL_ISA   "avx2"
#define WIDE         4
#define READ_CELLS   read_cells

typedef __m256d wide;

static inline wide wide_set(double a)
{
    return _mm256_set1_pd(a);
}

static inline wide wide_load(const double *x)
{
    return _mm256_loadu_pd(x);
}

static inline void wide_store(double *out, wide a)
{
    _mm256_storeu_pd(out, a);
}

/* A mask of the first m lanes. */
static inline __m256i first_lanes(size_t m)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)m), _mm256_set_epi64x(3, 2, 1, 0));
}

static inline wide wide_load_part(size_t m, const double *x)
{
    return _mm256_maskload_pd(x, first_lanes(m));
}

static inline void wide_store_part(size_t m, double *out, wide a)
{
    _mm256_maskstore_pd(out, first_lanes(m), a);
}

static inline wide wide_fma(wide a, wide b, wide c)
{
    return _mm256_fmadd_pd(a, b, c);
}

static inline wide wide_limit(wide a, double limit)
{
    return _mm256_max_pd(_mm256_set1_pd(-limit), _mm256_min_pd(_mm256_set1_pd(limit), a));
}

static inline wide wide_where_le(wide a, wide b, wide yes, wide no)
{
    return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_LE_OQ));
}

static inline wide wide_times_power(wide y, wide t)
{
    const __m256i power = _mm256_slli_epi64(_mm256_castpd_si256(t), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(y), power));
}

/* For every set of lanes, the permutation of 32-bit halves that moves these lanes to the
 * front. */
#define LANE(k) 2 * (k), 2 * (k) + 1
#define LANES(a, b, c, d)                                                                      \
    {                                                                                          \
        LANE(a), LANE(b), LANE(c), LANE(d)                                                     \
    }
static const int closing[16][8] = {
    LANES(0, 1, 2, 3), LANES(0, 1, 2, 3), LANES(1, 0, 2, 3), LANES(0, 1, 2, 3),
    LANES(2, 0, 1, 3), LANES(0, 2, 1, 3), LANES(1, 2, 0, 3), LANES(0, 1, 2, 3),
    LANES(3, 0, 1, 2), LANES(0, 3, 1, 2), LANES(1, 3, 0, 2), LANES(0, 1, 3, 2),
    LANES(2, 3, 0, 1), LANES(0, 2, 3, 1), LANES(1, 2, 3, 0), LANES(0, 1, 2, 3),
};

/* Stores the elements from low to high contiguously; writes a whole vector to out. */
static inline size_t wide_take(wide a, double low, double high, double *out, size_t *below)
{
    const wide from = _mm256_set1_pd(low);
    const int less = _mm256_movemask_pd(_mm256_cmp_pd(a, from, _CMP_LT_OQ));
    const wide above = _mm256_cmp_pd(a, from, _CMP_GE_OQ);
    const wide under = _mm256_cmp_pd(a, _mm256_set1_pd(high), _CMP_LE_OQ);
    const int own = _mm256_movemask_pd(_mm256_and_pd(above, under));
    const __m256i order = _mm256_loadu_si256((const __m256i *)closing[own]);
    const __m256 halves = _mm256_permutevar8x32_ps(_mm256_castpd_ps(a), order);
    _mm256_storeu_pd(out, _mm256_castps_pd(halves));
    *below += (size_t)__builtin_popcount((unsigned)less);
    return (size_t)__builtin_popcount((unsigned)own);
}

#include "linalg/kernels_body.h"

#endif
