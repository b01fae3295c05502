/* Sparse rows: products and combinations, see sparse_rows.
 *
 * `indicator` (every entry is 1) and `pair` (two products) are constants at every call, so that
 * each of the four ways is a loop of its own. */

static inline quad sparse_add(bool indicator, quad along, const double *value, quad sum)
{
    return indicator ? quad_add(along, sum) : quad_fma(quad_load(value), along, sum);
}

/* The last m < 4 entries; the other lanes get 0. */
static inline quad sparse_add_part(bool indicator, size_t m, quad along, const double *value,
                                   quad sum)
{
    return indicator ? quad_add(along, sum) : quad_fma(quad_load_part(m, value), along, sum);
}

/* The lanes of one row's products with p and, when `pair`, q. */
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

/* Products of m <= ROW_BLOCK rows; lanes of rows that are not there hold 0. */
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
