/* Vector kernels, one variant per instruction set, chosen at run time. The scalar file is
 * the definition: sums run in KERNEL_LANES fixed lanes with explicit fma and are folded as
 * (l0+l1)+(l2+l3), so that every variant gives the same bits. SBPS_ISA=scalar|avx2|avx512
 * overrides the choice. Pointer arguments do not overlap. */
#ifndef LINALG_KERNELS_H
#define LINALG_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_LANES 4
#define TAKE_PADDING 8

/* Sparse rows: row r has the non-zero entries start[r] to start[r + 1] - 1, with increasing
 * columns. With `constant` every row also has a 1 in column 0, which is not stored. */
typedef struct {
    const uint64_t *start;
    const uint32_t *column;
    const double *value; /* NULL: every entry is 1 */
    bool constant;
} sparse_rows;

/* Mean functions of models with d log p/d eta = y - mean(eta). */
typedef enum {
    MEAN_OTHER,   /* not of this form: there is no kernel */
    MEAN_SIGMOID, /* 1 / (1 + exp(-eta)) */
    MEAN_EXP,     /* exp(min(eta, MEAN_EXP_TOP)) */
    MEAN_COUNT
} mean_function;

#define MEAN_EXP_TOP 300.0

/* The terms of slopes, from one number per row of a batch each:
 *
 *   eta_i += t deta_i + offset_i
 *   r_i    = weight_i (base_i - curvature_i eta_i - mean(eta_i))
 *   g_i    = r_i deta_i
 *
 * A NULL pointer stands for 0 (offset, curvature) or 1 (weight). */
typedef struct {
    double t;
    const double *base, *curvature, *offset, *weight;
} slope_terms;

/* The characters that end cells of text. */
typedef struct {
    char separator; /* of the last cell: the separator, or a newline */
    char last;      /* the separator as well, or a newline */
} cell_delimiters;

#define CELL_REACH 64 /* bytes beyond the text that read_cells may read */

#define COUNTER_UNIT  0x1p-14
#define COUNTER_REACH (0x1p1 - 0x1p-15)

/* The position of a row's pair of words: the first two after its numbers that lie in one
 * block. */
static inline size_t counter_pair(size_t count)
{
    return (count + 3) / 4 * 2;
}

typedef struct {
    const char *isa;
    double (*dot)(size_t n, const double *x, const double *y);
    void (*axpy)(size_t n, double a, const double *x, double *y); /* y += a x */
    /* out[i] = exp(x[i]) to 2 ulp, 0 below -708, inf above 709.7; NaN stays NaN. */
    void (*exp)(size_t n, const double *x, double *out);
    /* out[i] = 1 / (1 + exp(-x[i])), to a few ulp; below -708 as if x[i] were -708. */
    void (*sigmoid)(size_t n, const double *x, double *out);
    /* out[i] = log(1 + exp(x[i])), to 3 ulp; NaN stays NaN. */
    void (*softplus)(size_t n, const double *x, double *out);
    /* out[i] = sum_a c[a * n + i] He_a(t[i]), a < terms, with Hermite's polynomials He_(a+1)
     * = t He_a - a He_(a-1), by Clenshaw: b_a = fma(t, b_(a+1), fma(-(a + 1), b_(a+2), c_a))
     * down to b_0. */
    void (*hermite_sums)(size_t n, size_t terms, const double *c, const double *t, double *out);
    /* sums[0] = sum g, sums[1] = sum (g - shift)^2 */
    void (*sum_squares)(size_t n, const double *g, double shift, double sums[2]);
    /* r, and sums[0] = sum g, sums[1] = sum g^2, of n rows. Terms of a sum run in eight
     * lanes, i mod 8, of which the last four are added to the first. eta is not changed. */
    void (*slope_sums[MEAN_COUNT])(size_t n, const slope_terms *s, const double *eta,
                                   const double *deta, double *r, double sums[2]);
    /* Row products: rows have `stride` doubles (a multiple of KERNEL_LANES, zero padded),
     * row r starts at x + r*stride. `rows` NULL means rows first, first+1, ...
     *
     *   eta[i] = x_r . p,  deta[i] = x_r . q   (q NULL: only eta)
     *
     * p and q have `stride` entries. */
    void (*row_products)(const double *x, size_t stride, const size_t *rows, size_t first,
                         size_t n, const double *p, const double *q, double *eta, double *deta);
    /* out += sum_i r[i] x_row(i), `stride` entries. */
    void (*row_combine)(const double *x, size_t stride, const size_t *rows, size_t first,
                        size_t n, const double *r, double *out);
    /* out[j][k] += sum_i c[i] x_ij x_ik for k <= j < d, rows of out `pitch` doubles apart;
     * rows first, first+1, ... Terms of OUTER_ROWS rows are added one by one, c[i] x_ij
     * rounded, then added to out. */
    void (*row_outer)(const double *x, size_t stride, size_t first, size_t n, const double *c,
                      size_t d, size_t pitch, double *out);
    /* The same for rows of floats, with the results of the floats converted to doubles. */
    void (*row_products_float)(const float *x, size_t stride, const size_t *rows, size_t first,
                               size_t n, const double *p, const double *q, double *eta,
                               double *deta);
    void (*row_combine_float)(const float *x, size_t stride, const size_t *rows, size_t first,
                              size_t n, const double *r, double *out);
    void (*row_outer_float)(const float *x, size_t stride, size_t first, size_t n,
                            const double *c, size_t d, size_t pitch, double *out);
    /* The same for sparse rows. Entry k of a row is a term of lane k mod 4; the constant's
     * term is added last. */
    void (*sparse_products)(const sparse_rows *x, const size_t *rows, size_t first, size_t n,
                            const double *p, const double *q, double *eta, double *deta);
    void (*sparse_combine)(const sparse_rows *x, const size_t *rows, size_t first, size_t n,
                           const double *r, double *out);
    /* out_ik += sum_j x_ij w_jk for i < n, j < d, k < s; rows of each matrix are `pitch`
     * doubles apart. Terms are added in the order of j. */
    void (*matrix_products)(size_t n, size_t d, const double *x, size_t x_pitch, size_t s,
                            const double *w, size_t w_pitch, double *out, size_t out_pitch);
    /* out[l] = sum_a (sum_b m[a * d + b] x[b * n + l]) x[a * n + l], l < n: the quadratic
     * form of m at n points, whose coordinates are contiguous by dimension. Products are
     * rounded and terms are added in order: the bits of quadratic_form (dense_matrix.h). */
    void (*quadratic_forms)(size_t n, size_t d, const double *m, const double *x, double *out);
    /* Copies the x with low <= x <= high in their order and returns their number; *below:
     * the number of smaller x. out has space for n + TAKE_PADDING. */
    size_t (*take_between)(size_t n, const double *x, double low, double high, double *out,
                           size_t *below);
    /* Counter-based random numbers of rows first, first + 1, ..., determined by seed and
     * row: `count` numbers per row into out, of 16 bits each, COUNTER_UNIT apart and uniform
     * between -COUNTER_REACH and COUNTER_REACH; and two more 32-bit words per row into
     * pairs, unless it is NULL. */
    void (*counter_rows)(uint64_t seed, uint64_t first, size_t n, size_t count, double *out,
                         size_t stride, uint32_t *pairs);
    /* Reads cells [+-]digits[.digits] as correctly rounded doubles, cell i into
     * row[slot[i]], up to the first cell of another or longer form. Returns the number read;
     * *text is then behind the last. May read CELL_REACH bytes beyond limit, whose values do
     * not matter. NULL: not available. */
    size_t (*read_cells)(const char **text, const char *limit,
                         const cell_delimiters *delimiters, size_t count, const size_t *slot,
                         double *row);
} kernels;

/* The fastest variant that this processor supports, or the one named by SBPS_ISA. */
const kernels *kernels_best(void);
/* The variants that this processor supports, scalar first; NULL past the end. */
const kernels *kernels_at(size_t index);

/* The variants, one file each; callers use kernels_best. */
extern const kernels kernels_scalar;
#if defined(__x86_64__)
extern const kernels kernels_avx2;
extern const kernels kernels_avx512;
#endif

#endif
