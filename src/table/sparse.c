/* Sparse rows: only the entries that are not 0, in the order of their columns; the intercept is
 * understood, and so are the values of a table of 0 and 1. */
#include "table/rows.h"

#include <string.h>

static sparse_rows view(const rows *data)
{
    return (sparse_rows){data->storage.start, data->storage.column, data->storage.value,
                         data->intercept};
}

static void products(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta)
{
    const sparse_rows x = view(data);
    k->sparse_products(&x, r.list, r.first, r.n, p, q, eta, deta);
}

static void entries_combine(const rows *data, const kernels *k, row_range r, const double *c,
                            double *out)
{
    const sparse_rows x = view(data);
    k->sparse_combine(&x, r.list, r.first, r.n, c, out);
}

static double entry(const rows *data, size_t at)
{
    return data->storage.value ? data->storage.value[at] : 1.0;
}

static void decode(const rows *data, size_t i, double *out)
{
    memset(out, 0, data->stride * sizeof *out);
    if (data->intercept) out[0] = 1.0;
    for (size_t at = data->storage.start[i]; at < data->storage.start[i + 1]; at++)
        out[data->storage.column[at]] = entry(data, at);
}

static double entries_cell(const rows *data, size_t i, size_t j)
{
    size_t low = data->storage.start[i], high = data->storage.start[i + 1];
    if (j == 0 && data->intercept) return 1.0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (data->storage.column[middle] == j) return entry(data, middle);
        if (data->storage.column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return 0.0;
}

static double entries_bytes(const rows *data)
{
    double each =
        sizeof *data->storage.column + (data->storage.value ? sizeof *data->storage.value : 0);
    return (double)rows_entries(data) * each +
           (double)(data->local_rows + 1) * sizeof *data->storage.start;
}

/* The entries one by one, the zeros of a column all at once. */
static void sums(const rows *data, const double *shift, double *sum, double *square,
                 double *zero_rows)
{
    double *zeros = zero_rows;
    for (size_t j = 0; j < data->d; j++) zeros[j] += (double)data->local_rows;
    for (size_t at = 0; at < data->storage.start[data->local_rows]; at++) {
        size_t j = data->storage.column[at];
        double t = entry(data, at) - shift[j];
        sum[j] += t;
        square[j] += t * t;
        zeros[j]--;
    }
}

static void sum_rest(const rows *data, const double *shift, double *sum, double *square,
                     const double *zeros)
{
    for (size_t j = 0; j < data->d; j++) {
        double t = (j == 0 && data->intercept ? 1.0 : 0.0) - shift[j];
        sum[j] += zeros[j] * t;
        square[j] += zeros[j] * t * t;
    }
}

/* A row of m entries makes m^2/2 products, each added where it belongs, at some ten times the cost
 * of a product in a matrix of d^2/2. */
#define SCATTER_COST 10.0

static bool outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out)
{
    (void)k;
    double d = (double)data->d, made = 0.0;
    for (size_t i = first; i < first + n; i++) {
        double m = (double)(data->storage.start[i + 1] - data->storage.start[i]);
        made += m * m;
    }
    if (SCATTER_COST * made > (double)n * d * d) return false;
    for (size_t i = 0; i < n; i++) {
        size_t begin = data->storage.start[first + i], end = data->storage.start[first + i + 1];
        if (data->intercept) out[0] += c[i];
        for (size_t a = begin; a < end; a++) {
            double *row = out + data->storage.column[a] * pitch, factor = c[i] * entry(data, a);
            if (data->intercept) row[0] += factor;
            for (size_t b = begin; b <= a; b++)
                row[data->storage.column[b]] += factor * entry(data, b);
        }
    }
    return true;
}

const storage_kind storage_sparse = {
    .name = "sparse",
    .products = products,
    .combine = entries_combine,
    .decode = decode,
    .cell = entries_cell,
    .bytes = entries_bytes,
    .sums = sums,
    .sum_rest = sum_rest,
    .outer = outer,
};
