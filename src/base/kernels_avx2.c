/* AVX2 and FMA: four doubles at a time, in element-wise kernels as in sums. */
#include "base/kernels.h"

#if defined(__x86_64__)

#include "base/kernels_decimals.h"
#include "base/kernels_ymm.h"

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

static inline wide wide_limit(wide a, double most)
{
    return _mm256_max_pd(_mm256_set1_pd(-most), _mm256_min_pd(_mm256_set1_pd(most), a));
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

#include "base/kernels_body.h"

#endif
