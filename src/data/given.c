/* Rows of a caller's, looked at where they lie: column j of row i is at place[j].first + from[i] place[j].step. So nothing but
 * the order is kept: row-major, column-major and columns of their own are all alike. Rows are laid side by side in a
 * small block before anything is done with them, the intercept's 1 first: products then have the same bits as those of
 * rows of doubles. Column after column, so that the far lines that the first one asks for come together. */
#include "data/given.h"

#include <string.h>

static size_t block_rows(const rows *data)
{
    return GIVEN_DOUBLES / data->stride;
}

static void take_column(const rows *data, size_t j, row_range r, double *out)
{
    const column_place *at = &data->place[j];
    for (size_t i = 0; i < r.n; i++) {
        size_t row = data->from[row_index(r, i)];
        memcpy(out + i * data->stride, at->first + (ptrdiff_t)row * at->step, sizeof *out);
    }
}

void given_rows(const rows *data, row_range r, double *out)
{
    memset(out, 0, r.n * data->stride * sizeof *out);
    for (size_t i = 0; data->intercept && i < r.n; i++) out[i * data->stride] = 1.0;
    for (size_t j = data->intercept; j < data->d; j++) take_column(data, j, r, out + j);
}

/* The next block of r from `done` on. */
static row_range block_of(const rows *data, row_range r, size_t done, double *out)
{
    size_t n = r.n - done < block_rows(data) ? r.n - done : block_rows(data);
    row_range b = r.list ? (row_range){r.list + done, 0, n} : rows_from(r.first + done, n);
    given_rows(data, b, out);
    return b;
}

static void products(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta)
{
    double x[GIVEN_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = block_of(data, r, done, x).n;
        k->row_products(x, data->stride, NULL, 0, n, p, q, eta + done,
                        deta ? deta + done : NULL);
    }
}

static void combine(const rows *data, const kernels *k, row_range r, const double *c,
                    double *out)
{
    double x[GIVEN_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = block_of(data, r, done, x).n;
        k->row_combine(x, data->stride, NULL, 0, n, c + done, out);
    }
}

static void decode(const rows *data, size_t i, double *out)
{
    given_rows(data, rows_from(i, 1), out);
}

static double cell(const rows *data, size_t i, size_t j)
{
    double value = 1.0;
    if (j < data->intercept) return value;
    take_column(data, j, rows_from(i, 1), &value);
    return value;
}

/* Ours: the order. The rest is the caller's. */
static double bytes(const rows *data)
{
    return (double)(data->n * sizeof *data->from);
}

static bool outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out)
{
    double x[GIVEN_DOUBLES];
    if (data->d > OUTER_COLUMNS) return false;
    for (size_t done = 0, more; done < n; done += more) {
        more = block_of(data, rows_from(first, n), done, x).n;
        k->row_outer(x, data->stride, 0, more, c + done, data->d, pitch, out);
    }
    return true;
}

const storage_kind storage_given = {
    .name = "given",
    .products = products,
    .combine = combine,
    .decode = decode,
    .cell = cell,
    .bytes = bytes,
    .outer = outer,
};
