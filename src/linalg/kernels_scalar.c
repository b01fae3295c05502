/* The definition of the kernels in plain C: `wide` is one double, and the lanes of a sum are
 * an array. Runs everywhere; where the processor lacks fma the C library computes it. */
#include "linalg/kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define KERNEL_TABLE kernels_scalar
#define KERNEL_ISA   "scalar"
#define WIDE         1
#define READ_CELLS   NULL

typedef double wide;

typedef struct {
    double lane[KERNEL_LANES];
} quad;

static inline wide wide_set(double a)
{
    return a;
}

static inline wide wide_load(const double *x)
{
    return *x;
}

static inline void wide_store(double *out, wide a)
{
    *out = a;
}

/* Parts have 1 <= m < WIDE doubles, so this variant has none. */
static inline wide wide_load_part(size_t m, const double *x)
{
    (void)m;
    return *x;
}

static inline void wide_store_part(size_t m, double *out, wide a)
{
    (void)m;
    *out = a;
}

static inline wide wide_fma(wide a, wide b, wide c)
{
    return __builtin_fma(a, b, c);
}

/* Clamps a to [-limit, limit]; a NaN stays. */
static inline wide wide_limit(wide a, double limit)
{
    a = limit < a ? limit : a;
    return -limit > a ? -limit : a;
}

static inline wide wide_where_le(wide a, wide b, wide yes, wide no)
{
    return a <= b ? yes : no;
}

/* y 2^k for t = k + ROUNDER: adds k, the low bits of t, to the exponent of y. */
static inline wide wide_times_power(wide y, wide t)
{
    uint64_t y_bits, t_bits;
    memcpy(&y_bits, &y, sizeof y);
    memcpy(&t_bits, &t, sizeof t);
    y_bits += t_bits << 52;
    memcpy(&y, &y_bits, sizeof y);
    return y;
}

static inline quad quad_set(double a)
{
    return (quad){{a, a, a, a}};
}

static inline quad quad_load(const double *x)
{
    return (quad){{x[0], x[1], x[2], x[3]}};
}

static inline quad quad_load_floats(const float *x)
{
    return (quad){{x[0], x[1], x[2], x[3]}};
}

static inline quad quad_gather(const double *x, const uint32_t *columns)
{
    return (quad){{x[columns[0]], x[columns[1]], x[columns[2]], x[columns[3]]}};
}

static inline quad quad_load_part(size_t m, const double *x)
{
    return (quad){{x[0], m > 1 ? x[1] : 0.0, m > 2 ? x[2] : 0.0, 0.0}};
}

/* The first 1 <= m < 4 of them; 0 in the other lanes. */
static inline quad quad_gather_part(size_t m, const double *x, const uint32_t *columns)
{
    return (quad){
        {x[columns[0]], m > 1 ? x[columns[1]] : 0.0, m > 2 ? x[columns[2]] : 0.0, 0.0}};
}

static inline void quad_store(double *out, quad a)
{
    for (size_t l = 0; l < KERNEL_LANES; l++) out[l] = a.lane[l];
}

static inline quad quad_add(quad a, quad b)
{
    for (size_t l = 0; l < KERNEL_LANES; l++) a.lane[l] += b.lane[l];
    return a;
}

static inline quad quad_fma(quad a, quad b, quad c)
{
    for (size_t l = 0; l < KERNEL_LANES; l++)
        c.lane[l] = __builtin_fma(a.lane[l], b.lane[l], c.lane[l]);
    return c;
}

static inline double quad_sum(quad a)
{
    return (a.lane[0] + a.lane[1]) + (a.lane[2] + a.lane[3]);
}

/* The sums of the lanes of a, b, c and d. */
static inline quad quad_fold4(quad a, quad b, quad c, quad d)
{
    return (quad){{quad_sum(a), quad_sum(b), quad_sum(c), quad_sum(d)}};
}

static inline size_t wide_take(wide a, double low, double high, double *out, size_t *below)
{
    *below += a < low;
    *out = a;
    return (size_t)(a >= low) & (size_t)(a <= high);
}

#include "linalg/kernels_body.h"
