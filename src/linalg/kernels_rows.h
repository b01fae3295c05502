/* Rows of cells: products and combinations. Included once for each type of CELL, with
 * ROWS(name) naming its functions and QUAD_CELLS loading four cells as doubles. */

static inline const CELL *ROWS(row_at)(const CELL *x, size_t stride, const size_t *rows,
                                       size_t first, size_t i)
{
    return x + (rows ? rows[i] : first + i) * stride;
}

/* Products of ROW_BLOCK rows with p and, if `pair`, q. For short rows `stride` is a
 * constant: the code is then unrolled, and p and q stay in registers if these suffice. */
static inline __attribute__((always_inline)) void
ROWS(block)(bool pair, const CELL *const row[ROW_BLOCK], size_t stride, const double *p,
            const double *q, double *eta, double *deta)
{
    quad a = quad_set(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
#pragma GCC unroll 8
    for (size_t j = 0; j < stride; j += KERNEL_LANES) {
        const quad along_p = quad_load(p + j);
        const quad row0 = QUAD_CELLS(row[0] + j), row1 = QUAD_CELLS(row[1] + j);
        const quad row2 = QUAD_CELLS(row[2] + j), row3 = QUAD_CELLS(row[3] + j);
        a = quad_fma(row0, along_p, a);
        b = quad_fma(row1, along_p, b);
        c = quad_fma(row2, along_p, c);
        d = quad_fma(row3, along_p, d);
        if (!pair) continue;
        const quad along_q = quad_load(q + j);
        e = quad_fma(row0, along_q, e);
        f = quad_fma(row1, along_q, f);
        g = quad_fma(row2, along_q, g);
        h = quad_fma(row3, along_q, h);
    }
    quad_store(eta, quad_fold4(a, b, c, d));
    if (pair) quad_store(deta, quad_fold4(e, f, g, h));
}

/* Prefetches gathered rows a few blocks ahead. The processor follows a row once it has
 * begun, so the first lines are enough. */
static inline void ROWS(prefetch_rows)(const CELL *x, size_t stride, const size_t *rows,
                                       size_t n)
{
    const size_t limit = AHEAD_BYTES / sizeof(CELL), cells = stride < limit ? stride : limit;
    for (size_t b = 0; b < n; b++)
        for (size_t j = 0; j < cells; j += LINE_BYTES / sizeof(CELL))
            __builtin_prefetch(x + rows[b] * stride + j);
}

static inline __attribute__((always_inline)) void
ROWS(products_of)(bool pair, const CELL *x, size_t stride, const size_t *rows, size_t first,
                  size_t n, const double *p, const double *q, double *eta, double *deta)
{
    const CELL *row[ROW_BLOCK];
    size_t i = 0;
    for (; i + ROW_BLOCK <= n; i += ROW_BLOCK) {
#pragma GCC unroll 8
        for (size_t b = 0; b < ROW_BLOCK; b++)
            row[b] = ROWS(row_at)(x, stride, rows, first, i + b);
        if (rows && i + ROW_BLOCK + AHEAD_ROWS <= n)
            ROWS(prefetch_rows)(x, stride, rows + i + AHEAD_ROWS, ROW_BLOCK);
        ROWS(block)(pair, row, stride, p, q, eta + i, pair ? deta + i : NULL);
    }
    if (i == n) return;
    /* the last row is repeated to fill the block */
    double along_p[ROW_BLOCK], along_q[ROW_BLOCK];
    for (size_t b = 0; b < ROW_BLOCK; b++)
        row[b] = ROWS(row_at)(x, stride, rows, first, i + b < n ? i + b : n - 1);
    ROWS(block)(pair, row, stride, p, q, along_p, along_q);
    for (size_t b = 0; i + b < n; b++) eta[i + b] = along_p[b];
    for (size_t b = 0; pair && i + b < n; b++) deta[i + b] = along_q[b];
}

static inline __attribute__((always_inline)) void
ROWS(products_by_stride)(bool pair, const CELL *x, size_t stride, const size_t *rows,
                         size_t first, size_t n, const double *p, const double *q, double *eta,
                         double *deta)
{
    switch (stride / KERNEL_LANES) {
#define PRODUCTS(quads)                                                                        \
    case quads:                                                                                \
        if (quads > QUADS_MAX) break;                                                          \
        ROWS(products_of)                                                                      \
        (pair, x, quads * KERNEL_LANES, rows, first, n, p, q, eta, deta);                      \
        return;
        PRODUCTS(1)
        PRODUCTS(2) PRODUCTS(3) PRODUCTS(4) PRODUCTS(5) PRODUCTS(6) PRODUCTS(7) PRODUCTS(8)
#undef PRODUCTS
    }
    ROWS(products_of)(pair, x, stride, rows, first, n, p, q, eta, deta);
}

static void ROWS(products)(const CELL *x, size_t stride, const size_t *rows, size_t first,
                           size_t n, const double *p, const double *q, double *eta,
                           double *deta)
{
    if (q)
        ROWS(products_by_stride)(true, x, stride, rows, first, n, p, q, eta, deta);
    else
        ROWS(products_by_stride)(false, x, stride, rows, first, n, p, q, eta, deta);
}

/* Columns of a combination, held in registers over all rows. `quads` is a constant at every
 * call, so that the loops unroll. */
static inline __attribute__((always_inline)) void
ROWS(combine_columns)(size_t quads, const CELL *x, size_t stride, const size_t *rows,
                      size_t first, size_t n, const double *r, double *out)
{
    quad sum[QUADS_MAX];
#pragma GCC unroll 8
    for (size_t j = 0; j < QUADS_MAX; j++)
        if (j < quads) sum[j] = quad_load(out + KERNEL_LANES * j);
    for (size_t i = 0; i < n; i++) {
        const CELL *row = ROWS(row_at)(x, stride, rows, first, i);
        const quad factor = quad_set(r[i]);
#pragma GCC unroll 8
        for (size_t j = 0; j < QUADS_MAX; j++)
            if (j < quads)
                sum[j] = quad_fma(factor, QUAD_CELLS(row + KERNEL_LANES * j), sum[j]);
    }
#pragma GCC unroll 8
    for (size_t j = 0; j < QUADS_MAX; j++)
        if (j < quads) quad_store(out + KERNEL_LANES * j, sum[j]);
}

static void ROWS(combine)(const CELL *x, size_t stride, const size_t *rows, size_t first,
                          size_t n, const double *r, double *out)
{
    size_t left = stride / KERNEL_LANES;
    for (; left > QUADS_MAX; left -= QUADS_MAX) {
        ROWS(combine_columns)(QUADS_MAX, x, stride, rows, first, n, r, out);
        x += QUADS_MAX * KERNEL_LANES;
        out += QUADS_MAX * KERNEL_LANES;
    }
    switch (left) {
#define COMBINE(quads)                                                                         \
    case quads:                                                                                \
        ROWS(combine_columns)(quads, x, stride, rows, first, n, r, out);                       \
        break;
        COMBINE(1) COMBINE(2) COMBINE(3) COMBINE(4) COMBINE(5) COMBINE(6) COMBINE(7) COMBINE(8)
#undef COMBINE
    }
}

/* Columns j to j + 3 against `quads` quads of columns from k, with the sums in registers;
 * `scaled` has c x of the four. Products above the diagonal are computed and ignored. */
static inline __attribute__((always_inline)) void
ROWS(outer_tile)(size_t quads, const CELL *x, size_t stride, size_t n, const double *scaled,
                 size_t k, double tile[KERNEL_LANES][OUTER_QUADS * KERNEL_LANES])
{
    quad sum[KERNEL_LANES][OUTER_QUADS];
#pragma GCC unroll 4
    for (size_t l = 0; l < KERNEL_LANES; l++)
#pragma GCC unroll 3
        for (size_t q = 0; q < OUTER_QUADS; q++) sum[l][q] = quad_set(0);
    for (size_t i = 0; i < n; i++, x += stride, scaled += KERNEL_LANES) {
        quad row[OUTER_QUADS];
#pragma GCC unroll 3
        for (size_t q = 0; q < OUTER_QUADS; q++)
            if (q < quads) row[q] = QUAD_CELLS(x + k + q * KERNEL_LANES);
#pragma GCC unroll 4
        for (size_t l = 0; l < KERNEL_LANES; l++) {
            const quad factor = quad_set(scaled[l]);
#pragma GCC unroll 3
            for (size_t q = 0; q < OUTER_QUADS; q++)
                if (q < quads) sum[l][q] = quad_fma(factor, row[q], sum[l][q]);
        }
    }
#pragma GCC unroll 4
    for (size_t l = 0; l < KERNEL_LANES; l++)
#pragma GCC unroll 3
        for (size_t q = 0; q < OUTER_QUADS; q++)
            if (q < quads) quad_store(tile[l] + q * KERNEL_LANES, sum[l][q]);
}

/* A band of four columns j against all columns up to its own. */
static inline void ROWS(outer_band)(const CELL *x, size_t stride, size_t n,
                                    const double *scaled, size_t j, size_t d, size_t pitch,
                                    double *out)
{
    double tile[KERNEL_LANES][OUTER_QUADS * KERNEL_LANES];
    for (size_t k = 0; k <= j; k += OUTER_QUADS * KERNEL_LANES) {
        size_t left = (j - k) / KERNEL_LANES + 1;
        switch (left) {
        case 1:
            ROWS(outer_tile)(1, x, stride, n, scaled, k, tile);
            break;
        case 2:
            ROWS(outer_tile)(2, x, stride, n, scaled, k, tile);
            break;
        default:
            ROWS(outer_tile)(OUTER_QUADS, x, stride, n, scaled, k, tile);
        }
        for (size_t l = 0; l < KERNEL_LANES && j + l < d; l++)
            for (size_t m = 0; m < OUTER_QUADS * KERNEL_LANES && k + m <= j + l; m++)
                out[(j + l) * pitch + k + m] += tile[l][m];
    }
}

static void ROWS(outer)(const CELL *x, size_t stride, size_t first, size_t n, const double *c,
                        size_t d, size_t pitch, double *out)
{
    double scaled[OUTER_ROWS * KERNEL_LANES];
    for (size_t done = 0, now; done < n; done += now) {
        const CELL *rows = x + (first + done) * stride;
        now = n - done < OUTER_ROWS ? n - done : OUTER_ROWS;
        for (size_t j = 0; j < d; j += KERNEL_LANES) {
            for (size_t i = 0; i < now; i++)
                for (size_t l = 0; l < KERNEL_LANES; l++)
                    scaled[i * KERNEL_LANES + l] = c[done + i] * rows[i * stride + j + l];
            ROWS(outer_band)(rows, stride, now, scaled, j, d, pitch, out);
        }
    }
}
