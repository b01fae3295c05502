/* The body of every variant. A file that includes it has defined, for its instruction set,
 *
 *   wide        WIDE doubles side by side; +, -, *, / work on it
 *               wide_set, wide_load, wide_store, wide_load_part, wide_store_part, wide_fma,
 *               wide_limit(a, limit), wide_where_le(a, b, yes, no), wide_times_power(y, t),
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
 * where q, of degree 9, interpolates (e^r - 1 - r) / r^2 at Chebyshev's nodes. The relative
 * error is below 1.7e-17; with rounding (2) is within 1.1 ulp and (3) within 2.3.
 *
 * Logarithms, for e = exp(-|x|) and f = e / (2 + e) <= 1/3,
 *
 *   log(1 + exp(x)) = max(x, 0) + 2 artanh f,  2 artanh f = 2f + f^3 p(f^2)    (4)
 *
 * where p, of degree 9, interpolates likewise: relative error below 7.2e-18, with rounding
 * within 3 ulp.
 *
 * (1) fixes every rounding, and (2) to (4) treat elements separately: so all variants agree. */
#include "linalg/kernels.h"

#include <math.h>

#define LINE_BYTES  64
#define AHEAD_ROWS  16
#define AHEAD_BYTES 256
#define ROW_BLOCK   4 /* rows evaluated together, with their products with p and q */

#define LOG2_E      0x1.71547652b82fep+0
#define MINUS_LN2_A -0x1.62e42fefa3800p-1  /* 42 bits: k times it is exact */
#define MINUS_LN2_B -0x1.ef35793c76730p-45 /* ln 2 = A + B */
/* adding it rounds to an integer k, which is then in the low bits */
#define ROUNDER 0x1.8p+52
#define EXP_MIN -708.0               /* above it results are normal numbers */
#define EXP_MAX 0x1.62e42fefa39efp+9 /* the last x whose exp is finite */

#define OUTER_ROWS                                                                             \
    ((size_t)128)     /* rows of one block of an outer product: they stay in the cache */
#define OUTER_QUADS 3 /* quads of a row whose products it holds in registers */

/* Largest row, in quads, with unrolled code and sums in registers. Where fma is a function
 * call there is no gain, and compiling it with sanitizers takes a minute. */
#if defined __FP_FAST_FMA || defined __FMA__ || defined __ARM_FEATURE_FMA
#define QUADS_MAX 8
#else
#define QUADS_MAX 1
#endif

/* The sum of the lanes, by (1). */
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

/* (2). NaN and x above EXP_MAX take the value x * inf, so that one comparison handles both. */
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

/* (3). exp(-x) by (2) in s = -r, without its limits; a NaN, which wide_limit keeps, reaches
 * the result through the numerator. */
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

/* Clenshaw's recurrence for m points; see kernels.h. */
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

/* ---- sums of slopes from the products of rows, see slope_terms ---- */

#define SLOPE_LANES 8
#define SLOPE_PARTS (SLOPE_LANES / WIDE)

/* m numbers of an array from i on, 0 in the other lanes; `missing` in all of them if x is
 * NULL. */
static inline wide slope_load(const double *x, size_t i, size_t m, double missing)
{
    if (!x) return wide_set(missing);
    return m == WIDE ? wide_load(x + i) : wide_load_part(m, x + i);
}

/* Stores r of m <= WIDE rows from row i on; returns g, which is 0 in unused lanes. */
static inline __attribute__((always_inline)) wide slope_part(bool sigmoid, size_t i, size_t m,
                                                             const slope_terms *s,
                                                             const double *eta,
                                                             const double *deta, double *r)
{
    const wide rate = slope_load(deta, i, m, 0);
    wide eta_at = wide_fma(wide_set(s->t), rate, slope_load(eta, i, m, 0));
    if (s->offset) eta_at = eta_at + slope_load(s->offset, i, m, 0);
    const wide mean = sigmoid ? wide_sigmoid(eta_at)
                              : wide_exp(wide_where_le(wide_set(MEAN_EXP_TOP), eta_at,
                                                       wide_set(MEAN_EXP_TOP), eta_at));
    wide residual = slope_load(s->base, i, m, 0) - mean;
    if (s->curvature) residual = wide_fma(-slope_load(s->curvature, i, m, 0), eta_at, residual);
    if (s->weight) residual = residual * slope_load(s->weight, i, m, 0);
    if (m == WIDE)
        wide_store(r + i, residual);
    else
        wide_store_part(m, r + i, residual);
    return residual * rate;
}

static inline __attribute__((always_inline)) void
slope_sums(bool sigmoid, size_t n, const slope_terms *s, const double *eta, const double *deta,
           double *r, double sums[2])
{
    wide sum[SLOPE_PARTS], square[SLOPE_PARTS];
    for (size_t b = 0; b < SLOPE_PARTS; b++) sum[b] = square[b] = wide_set(0);
    size_t i = 0;
    for (; i + SLOPE_LANES <= n; i += SLOPE_LANES)
        for (size_t b = 0; b < SLOPE_PARTS; b++) {
            const wide g = slope_part(sigmoid, i + b * WIDE, WIDE, s, eta, deta, r);
            sum[b] = sum[b] + g;
            square[b] = wide_fma(g, g, square[b]);
        }
    for (size_t b = 0; i + b * WIDE < n; b++) {
        const size_t residual = n - i - b * WIDE, m = residual < WIDE ? residual : WIDE;
        const wide g = slope_part(sigmoid, i + b * WIDE, m, s, eta, deta, r);
        sum[b] = sum[b] + g;
        square[b] = wide_fma(g, g, square[b]);
    }
    double lane[SLOPE_LANES];
    for (size_t b = 0; b < SLOPE_PARTS; b++) wide_store(lane + b * WIDE, sum[b]);
    for (size_t l = 0; l < KERNEL_LANES; l++) lane[l] += lane[l + KERNEL_LANES];
    sums[0] = fold(lane);
    for (size_t b = 0; b < SLOPE_PARTS; b++) wide_store(lane + b * WIDE, square[b]);
    for (size_t l = 0; l < KERNEL_LANES; l++) lane[l] += lane[l + KERNEL_LANES];
    sums[1] = fold(lane);
}

static void slope_sums_sigmoid(size_t n, const slope_terms *s, const double *eta,
                               const double *deta, double *r, double sums[2])
{
    slope_sums(true, n, s, eta, deta, r, sums);
}

static void slope_sums_exp(size_t n, const slope_terms *s, const double *eta,
                           const double *deta, double *r, double sums[2])
{
    slope_sums(false, n, s, eta, deta, r, sums);
}

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

/* ---- sparse rows: products and combinations, see sparse_rows ----
 *
 * `indicator` (every entry is 1) and `pair` (two products) are constants at every call, so
 * that each of the four combinations is compiled as a loop of its own. */

static inline quad sparse_add(bool indicator, quad along, const double *value, quad sum)
{
    return indicator ? quad_add(along, sum) : quad_fma(quad_load(value), along, sum);
}

/* The last m < 4 entries; the other lanes are 0. */
static inline quad sparse_add_part(bool indicator, size_t m, quad along, const double *value,
                                   quad sum)
{
    return indicator ? quad_add(along, sum) : quad_fma(quad_load_part(m, value), along, sum);
}

/* The lanes of one row's products with p and, if `pair`, q. */
static inline __attribute__((always_inline)) void
sparse_row(bool indicator, bool pair, const uint32_t *column, const double *value, size_t n,
           const double *p, const double *q, quad *sum_p, quad *sum_q)
{
    quad a = quad_set(0), b = a;
    size_t k = 0;
    for (; k + KERNEL_LANES <= n; k += KERNEL_LANES) {
        a = sparse_add(indicator, quad_gather(p, column + k), value + k, a);
        if (pair) b = sparse_add(indicator, quad_gather(q, column + k), value + k, b);
    }
    if (k < n) {
        const size_t m = n - k;
        a = sparse_add_part(indicator, m, quad_gather_part(m, p, column + k), value + k, a);
        if (pair)
            b = sparse_add_part(indicator, m, quad_gather_part(m, q, column + k), value + k, b);
    }
    *sum_p = a;
    *sum_q = b;
}

/* Products of m <= ROW_BLOCK rows; lanes of missing rows are 0. */
static inline __attribute__((always_inline)) void
sparse_block(bool indicator, bool pair, const sparse_rows *x, const size_t *rows, size_t first,
             size_t m, const double *p, const double *q, double *eta, double *deta)
{
    quad sum_p[ROW_BLOCK], sum_q[ROW_BLOCK];
    for (size_t b = 0; b < ROW_BLOCK; b++) sum_p[b] = sum_q[b] = quad_set(0);
    for (size_t b = 0; b < m; b++) {
        const size_t r = rows ? rows[b] : first + b, at = x->start[r];
        sparse_row(indicator, pair, x->column + at, indicator ? NULL : x->value + at,
                   x->start[r + 1] - at, p, q, sum_p + b, sum_q + b);
    }
    quad base = quad_set(x->constant ? p[0] : 0.0);
    quad_store(eta, quad_add(quad_fold4(sum_p[0], sum_p[1], sum_p[2], sum_p[3]), base));
    if (!pair) return;
    base = quad_set(x->constant ? q[0] : 0.0);
    quad_store(deta, quad_add(quad_fold4(sum_q[0], sum_q[1], sum_q[2], sum_q[3]), base));
}

static inline __attribute__((always_inline)) void
sparse_all(bool indicator, bool pair, const sparse_rows *x, const size_t *rows, size_t first,
           size_t n, const double *p, const double *q, double *eta, double *deta)
{
    double along_p[ROW_BLOCK], along_q[ROW_BLOCK];
    size_t i = 0;
    for (; i + ROW_BLOCK <= n; i += ROW_BLOCK)
        sparse_block(indicator, pair, x, rows ? rows + i : NULL, first + i, ROW_BLOCK, p, q,
                     eta + i, pair ? deta + i : NULL);
    if (i == n) return;
    sparse_block(indicator, pair, x, rows ? rows + i : NULL, first + i, n - i, p, q, along_p,
                 along_q);
    for (size_t b = 0; i + b < n; b++) eta[i + b] = along_p[b];
    for (size_t b = 0; pair && i + b < n; b++) deta[i + b] = along_q[b];
}

static void sparse_products(const sparse_rows *x, const size_t *rows, size_t first, size_t n,
                            const double *p, const double *q, double *eta, double *deta)
{
    if (q && !x->value)
        sparse_all(true, true, x, rows, first, n, p, q, eta, deta);
    else if (q)
        sparse_all(false, true, x, rows, first, n, p, q, eta, deta);
    else if (!x->value)
        sparse_all(true, false, x, rows, first, n, p, q, eta, deta);
    else
        sparse_all(false, false, x, rows, first, n, p, q, eta, deta);
}

static void sparse_combine(const sparse_rows *x, const size_t *rows, size_t first, size_t n,
                           const double *r, double *out)
{
    double constant = out[0];
    for (size_t i = 0; i < n; i++) {
        const size_t row = rows ? rows[i] : first + i, end = x->start[row + 1];
        if (x->constant) constant += r[i];
        for (size_t k = x->start[row]; k < end; k++) {
            double *to = out + x->column[k];
            *to = x->value ? __builtin_fma(r[i], x->value[k], *to) : *to + r[i];
        }
    }
    if (x->constant) out[0] = constant;
}

#include "linalg/kernels_counter.h"

/* ---- matrix products, quadratic forms, and selection by value ----
 *
 * Tiles of a few rows by a few wides stay in registers during the loop over columns; terms
 * are added in the order of columns, so that all variants agree. */

#define TILE_ROWS  4
#define TILE_WIDES 3

typedef struct {
    size_t d, x_pitch, w_pitch, out_pitch;
} matrix_shape;

/* A tile of rows by wides. */
static inline __attribute__((always_inline)) void matrix_tile(size_t rows, size_t wides,
                                                              const matrix_shape *m,
                                                              const double *x, const double *w,
                                                              double *out)
{
    wide sum[TILE_ROWS][TILE_WIDES];
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < wides; v++)
            sum[i][v] = wide_load(out + i * m->out_pitch + v * WIDE);
    for (size_t j = 0; j < m->d; j++)
        for (size_t v = 0; v < wides; v++) {
            const wide of = wide_load(w + j * m->w_pitch + v * WIDE);
            for (size_t i = 0; i < rows; i++)
                sum[i][v] = wide_fma(wide_set(x[i * m->x_pitch + j]), of, sum[i][v]);
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < wides; v++)
            wide_store(out + i * m->out_pitch + v * WIDE, sum[i][v]);
}

/* One number at a time, for columns beyond the last whole `wide`. */
static void matrix_rest(size_t n, size_t s, const matrix_shape *m, const double *x,
                        const double *w, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s; k++) {
            double sum = out[i * m->out_pitch + k];
            for (size_t j = 0; j < m->d; j++)
                sum = __builtin_fma(x[i * m->x_pitch + j], w[j * m->w_pitch + k], sum);
            out[i * m->out_pitch + k] = sum;
        }
}

/* `wides` of columns, for all rows. */
static inline __attribute__((always_inline)) void matrix_band(size_t n, size_t wides,
                                                              const matrix_shape *m,
                                                              const double *x, const double *w,
                                                              double *out)
{
    size_t i = 0;
    for (; i + TILE_ROWS <= n; i += TILE_ROWS)
        matrix_tile(TILE_ROWS, wides, m, x + i * m->x_pitch, w, out + i * m->out_pitch);
    for (; i < n; i++) matrix_tile(1, wides, m, x + i * m->x_pitch, w, out + i * m->out_pitch);
}

static void matrix_products(size_t n, size_t d, const double *x, size_t x_pitch, size_t s,
                            const double *w, size_t w_pitch, double *out, size_t out_pitch)
{
    const matrix_shape m = {d, x_pitch, w_pitch, out_pitch};
    const size_t step = TILE_WIDES * WIDE;
    size_t k = 0;
    for (; k + step <= s; k += step) matrix_band(n, TILE_WIDES, &m, x, w + k, out + k);
    for (; k + WIDE <= s; k += WIDE) matrix_band(n, 1, &m, x, w + k, out + k);
    matrix_rest(n, s - k, &m, x, w + k, out + k);
}

/* At `wides` times WIDE points; x and out begin with the first of them. */
static inline __attribute__((always_inline)) void
form_tile(size_t wides, size_t n, size_t d, const double *m, const double *x, double *out)
{
    wide sum[TILE_WIDES], row[TILE_WIDES];
    for (size_t v = 0; v < wides; v++) sum[v] = wide_set(0);
    for (size_t a = 0; a < d; a++) {
        for (size_t v = 0; v < wides; v++) row[v] = wide_set(0);
        for (size_t b = 0; b < d; b++) {
            const wide factor = wide_set(m[a * d + b]);
            for (size_t v = 0; v < wides; v++)
                row[v] = row[v] + factor * wide_load(x + b * n + v * WIDE);
        }
        for (size_t v = 0; v < wides; v++)
            sum[v] = sum[v] + row[v] * wide_load(x + a * n + v * WIDE);
    }
    for (size_t v = 0; v < wides; v++) wide_store(out + v * WIDE, sum[v]);
}

/* One point at a time, for points beyond the last whole `wide`. */
static void form_rest(size_t from, size_t n, size_t d, const double *m, const double *x,
                      double *out)
{
    for (size_t l = from; l < n; l++) {
        double sum = 0.0;
        for (size_t a = 0; a < d; a++) {
            double row = 0.0;
            for (size_t b = 0; b < d; b++) row += m[a * d + b] * x[b * n + l];
            sum += row * x[a * n + l];
        }
        out[l] = sum;
    }
}

static void quadratic_forms(size_t n, size_t d, const double *m, const double *x, double *out)
{
    const size_t step = TILE_WIDES * WIDE;
    size_t l = 0;
    for (; l + step <= n; l += step) form_tile(TILE_WIDES, n, d, m, x + l, out + l);
    for (; l + WIDE <= n; l += WIDE) form_tile(1, n, d, m, x + l, out + l);
    form_rest(l, n, d, m, x, out);
}

static size_t take_between(size_t n, const double *x, double low, double high, double *out,
                           size_t *below)
{
    size_t i = 0, taken = 0, under = 0;
    for (; i + WIDE <= n; i += WIDE)
        taken += wide_take(wide_load(x + i), low, high, out + taken, &under);
    for (; i < n; i++) {
        under += x[i] < low;
        out[taken] = x[i];
        taken += (size_t)(x[i] >= low) & (size_t)(x[i] <= high);
    }
    *below = under;
    return taken;
}

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
