/* The body of every variant. A file that includes it has defined, for its instruction set,
 *
 *   wide        WIDE doubles side by side; +, -, *, / work on it
 *               wide_set, wide_load, wide_store, wide_load_part, wide_store_part, wide_fma,
 *               wide_limit(a, most), wide_where_le(a, b, yes, no), wide_times_power(y, t),
 *               wide_take(a, low, high, out, below)
 *   quad        the KERNEL_LANES lanes of a sum
 *               quad_set, quad_load, quad_load_floats, quad_gather(x, columns), quad_store,
 *               quad_add, quad_fma, quad_fold4
 *
 * Sums: lane l holds the terms i = l mod 4 in order of i, added one by one by fma,
 *
 *   sum = (l0 + l1) + (l2 + l3)                                                (1)
 *
 * Exponentials, for x = k ln 2 + r with |r| <= ln(2)/2,
 *
 *   exp(x)   = 2^k (1 + (r + r^2 q(r)))                                        (2)
 *   sigma(x) = 1 / (1 + e),  e = exp(-x), x at least -708 and at most 708      (3)
 *
 * where q, of degree 9, interpolates (e^r - 1 - r) / r^2 at Chebyshev's nodes. That leaves a
 * relative error below 1.7e-17; with the roundings (2) is within 1.1 ulp and (3) within 2.3.
 *
 * Logarithms, for e = exp(-|x|) and f = e / (2 + e) <= 1/3,
 *
 *   log(1 + exp(x)) = max(x, 0) + 2 artanh f,  2 artanh f = 2f + f^3 p(f^2)    (4)
 *
 * where p, of degree 9, interpolates likewise: relative error below 7.2e-18, with the roundings within 3 ulp.
 *
 * (1) fixes every rounding, and (2) to (4) treat elements alone: so all variants agree. */
#include "linalg/kernels_variants.h"

#include <math.h>

#define LINE_BYTES  64
#define AHEAD_ROWS  16
#define AHEAD_BYTES 256
#define ROW_BLOCK   4 /* rows taken at once, with their products with p and q */

#define LOG2_E      0x1.71547652b82fep+0
#define MINUS_LN2_A -0x1.62e42fefa3800p-1  /* 42 bits: k times it is exact */
#define MINUS_LN2_B -0x1.ef35793c76730p-45 /* ln 2 = A + B */
#define ROUNDER     0x1.8p+52              /* adding it rounds, and leaves k in the low bits */
#define EXP_MIN     -708.0                 /* above it results are normal numbers */
#define EXP_MAX     0x1.62e42fefa39efp+9   /* the last x whose exp is finite */

#define OUTER_ROWS                                                                             \
    ((size_t)128)     /* rows that an outer product takes at a time: they stay in the cache */
#define OUTER_QUADS 3 /* quads of a row that it holds products of */

/* Quads of a row that are straight code, held in registers. Where fma is a call there is nothing to
 * gain by it, and compiling it with sanitizers takes a minute. */
#if defined __FP_FAST_FMA || defined __FMA__ || defined __ARM_FEATURE_FMA
#define QUADS_MAX 8
#else
#define QUADS_MAX 1
#endif

/* (1) */
static inline double fold(const double lane[KERNEL_LANES])
{
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

static double dot(size_t n, const double *x, const double *y)
{
    double lane[KERNEL_LANES];
    quad sum = quad_set(0);
    size_t i = 0;
    for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
        sum = quad_fma(quad_load(x + i), quad_load(y + i), sum);
    quad_store(lane, sum);
    for (size_t l = 0; i < n; i++, l++) lane[l] = __builtin_fma(x[i], y[i], lane[l]);
    return fold(lane);
}

static void sum_squares(size_t n, const double *g, double shift, double sums[2])
{
    double first[KERNEL_LANES], second[KERNEL_LANES];
    quad sum = quad_set(0), squares = quad_set(0);
    const quad minus_shift = quad_set(-shift);
    size_t i = 0;
    for (; i + KERNEL_LANES <= n; i += KERNEL_LANES) {
        const quad value = quad_load(g + i), centred = quad_add(value, minus_shift);
        sum = quad_add(sum, value);
        squares = quad_fma(centred, centred, squares);
    }
    quad_store(first, sum);
    quad_store(second, squares);
    for (size_t l = 0; i < n; i++, l++) {
        const double centred = g[i] - shift;
        first[l] += g[i];
        second[l] = __builtin_fma(centred, centred, second[l]);
    }
    sums[0] = fold(first);
    sums[1] = fold(second);
}

static void axpy(size_t n, double a, const double *x, double *y)
{
    const wide factor = wide_set(a);
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE)
        wide_store(y + i, wide_fma(factor, wide_load(x + i), wide_load(y + i)));
    for (; i < n; i++) y[i] = __builtin_fma(a, x[i], y[i]);
}

/* (2). NaN and x above EXP_MAX leave by x * inf, so that one comparison serves both. */
static inline wide wide_exp(wide x)
{
    const wide t = wide_fma(x, wide_set(LOG2_E), wide_set(ROUNDER)), k = t - wide_set(ROUNDER);
    wide r = wide_fma(k, wide_set(MINUS_LN2_A), x);
    r = wide_fma(k, wide_set(MINUS_LN2_B), r);
    wide q = wide_set(0x1.af38d53857513p-26);
    q = wide_fma(q, r, wide_set(0x1.2891a8c1d838dp-22));
    q = wide_fma(q, r, wide_set(0x1.71de0d9c145d0p-19));
    q = wide_fma(q, r, wide_set(0x1.a019b8ef67c6cp-16));
    q = wide_fma(q, r, wide_set(0x1.a01a01a7c8d47p-13));
    q = wide_fma(q, r, wide_set(0x1.6c16c17893833p-10));
    q = wide_fma(q, r, wide_set(0x1.11111111109adp-7));
    q = wide_fma(q, r, wide_set(0x1.5555555553d4fp-5));
    q = wide_fma(q, r, wide_set(0x1.5555555555556p-3));
    q = wide_fma(q, r, wide_set(0x1.0000000000001p-1));
    const wide y = wide_set(1) + wide_fma(r * r, q, r);
    const wide tame = wide_where_le(wide_set(EXP_MIN), x, wide_times_power(y, t), wide_set(0));
    return wide_where_le(x, wide_set(EXP_MAX), tame, x * wide_set(INFINITY));
}

/* (3). exp(-x) by (2) in s = -r, without its limits; a NaN, which limits pass on, leaves by the
 * numerator. */
static inline wide wide_sigmoid(wide x)
{
    x = wide_limit(x, -EXP_MIN);
    const wide t = wide_fma(x, wide_set(-LOG2_E), wide_set(ROUNDER)), k = t - wide_set(ROUNDER);
    wide s = wide_fma(k, wide_set(-MINUS_LN2_A), x);
    s = wide_fma(k, wide_set(-MINUS_LN2_B), s);
    wide q = wide_set(-0x1.af38d53857513p-26);
    q = wide_fma(q, s, wide_set(0x1.2891a8c1d838dp-22));
    q = wide_fma(q, s, wide_set(-0x1.71de0d9c145d0p-19));
    q = wide_fma(q, s, wide_set(0x1.a019b8ef67c6cp-16));
    q = wide_fma(q, s, wide_set(-0x1.a01a01a7c8d47p-13));
    q = wide_fma(q, s, wide_set(0x1.6c16c17893833p-10));
    q = wide_fma(q, s, wide_set(-0x1.11111111109adp-7));
    q = wide_fma(q, s, wide_set(0x1.5555555553d4fp-5));
    q = wide_fma(q, s, wide_set(-0x1.5555555555556p-3));
    q = wide_fma(q, s, wide_set(0x1.0000000000001p-1));
    const wide e = wide_times_power(wide_set(1) + wide_fma(s * s, q, -s), t);
    return wide_fma(x, wide_set(0), wide_set(1)) / (wide_set(1) + e);
}

/* (4) */
static inline wide wide_softplus(wide x)
{
    const wide zero = wide_set(0), e = wide_exp(wide_where_le(x, zero, x, zero - x));
    const wide f = e / (wide_set(2) + e), s = f * f;
    wide p = wide_set(0x1.4b0a26c5f2af0p-3);
    p = wide_fma(p, s, wide_set(0x1.687a6e7c95176p-4));
    p = wide_fma(p, s, wide_set(0x1.eb905e8575054p-4));
    p = wide_fma(p, s, wide_set(0x1.10ac75dc602b1p-3));
    p = wide_fma(p, s, wide_set(0x1.3b18b294bebf9p-3));
    p = wide_fma(p, s, wide_set(0x1.745cf0b0e03bdp-3));
    p = wide_fma(p, s, wide_set(0x1.c71c727143318p-3));
    p = wide_fma(p, s, wide_set(0x1.24924923d44c6p-2));
    p = wide_fma(p, s, wide_set(0x1.999999999a3ddp-2));
    p = wide_fma(p, s, wide_set(0x1.5555555555555p-1));
    return wide_where_le(x, zero, zero, x) + wide_fma(f * s, p, f + f);
}

static void exp_all(size_t n, const double *x, double *out)
{
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE) wide_store(out + i, wide_exp(wide_load(x + i)));
    if (i < n) wide_store_part(n - i, out + i, wide_exp(wide_load_part(n - i, x + i)));
}

static void sigmoid_all(size_t n, const double *x, double *out)
{
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE) wide_store(out + i, wide_sigmoid(wide_load(x + i)));
    if (i < n) wide_store_part(n - i, out + i, wide_sigmoid(wide_load_part(n - i, x + i)));
}

static void softplus_all(size_t n, const double *x, double *out)
{
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE) wide_store(out + i, wide_softplus(wide_load(x + i)));
    if (i < n) wide_store_part(n - i, out + i, wide_softplus(wide_load_part(n - i, x + i)));
}

static inline __attribute__((always_inline)) wide hermite_sum(size_t m, size_t n, size_t terms,
                                                              const double *c, wide t)
{
    wide above = wide_set(0), sum = wide_set(0);
    for (size_t a = terms; a-- > 0;) {
        const wide own = m == WIDE ? wide_load(c + a * n) : wide_load_part(m, c + a * n);
        const wide next = wide_fma(t, sum, wide_fma(wide_set(-(double)(a + 1)), above, own));
        above = sum;
        sum = next;
    }
    return sum;
}

static void hermite_sums(size_t n, size_t terms, const double *c, const double *t, double *out)
{
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE)
        wide_store(out + i, hermite_sum(WIDE, n, terms, c + i, wide_load(t + i)));
    if (i < n)
        wide_store_part(n - i, out + i,
                        hermite_sum(n - i, n, terms, c + i, wide_load_part(n - i, t + i)));
}

#include "linalg/kernels_slopes.h"

/* Rows of doubles, rows of floats, sparse rows. */
#define CELL       double
#define ROWS(name) name##_double
#define QUAD_CELLS quad_load
#include "linalg/kernels_rows.h"
#undef CELL
#undef ROWS
#undef QUAD_CELLS
#define CELL       float
#define ROWS(name) name##_float
#define QUAD_CELLS quad_load_floats
#include "linalg/kernels_rows.h"
#include "linalg/kernels_sparse.h"

#include "linalg/kernels_counter.h"
#include "linalg/kernels_matrix.h"

const kernels KERNEL_TABLE = {
    .isa = KERNEL_ISA,
    .dot = dot,
    .axpy = axpy,
    .exp = exp_all,
    .sigmoid = sigmoid_all,
    .softplus = softplus_all,
    .hermite_sums = hermite_sums,
    .sum_squares = sum_squares,
    .slope_sums = {NULL, slope_sums_sigmoid, slope_sums_exp},
    .row_products = products_double,
    .row_combine = combine_double,
    .row_outer = outer_double,
    .row_products_float = products_float,
    .row_combine_float = combine_float,
    .row_outer_float = outer_float,
    .sparse_products = sparse_products,
    .sparse_combine = sparse_combine,
    .matrix_products = matrix_products,
    .quadratic_forms = quadratic_forms,
    .take_between = take_between,
    .counter_rows = counter_rows,
    .read_cells = READ_CELLS,
};
