/* Included by kernels_body.h: products of matrices, quadratic forms, and what lies between two numbers.
 *
 * Tiles of a few rows by a few wides are held in registers while the columns pass; terms are added in the order of columns,
 * so that all variants agree. */

#define TILE_ROWS  4
#define TILE_WIDES 3

typedef struct {
    size_t d, x_pitch, w_pitch, out_pitch;
} matrix_shape;

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

/* One number at a time, where no wide fits. */
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

/* One point at a time, where no wide fits. */
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
