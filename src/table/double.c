/* Rows of doubles, one after another: the vector kernels' own layout. */
#include "table/rows.h"

#include <string.h>

static void products(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta)
{
    k->row_products(data->storage.x, data->stride, r.list, r.first, r.n, p, q, eta, deta);
}

static void doubles_combine(const rows *data, const kernels *k, row_range r, const double *c,
                            double *out)
{
    k->row_combine(data->storage.x, data->stride, r.list, r.first, r.n, c, out);
}

static void decode(const rows *data, size_t i, double *out)
{
    memcpy(out, data->storage.x + i * data->stride, data->stride * sizeof *out);
}

static double doubles_cell(const rows *data, size_t i, size_t j)
{
    return data->storage.x[i * data->stride + j];
}

static double doubles_bytes(const rows *data)
{
    return (double)(data->local_rows * data->stride * sizeof *data->storage.x);
}

static bool outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out)
{
    if (data->d > OUTER_COLUMNS) return false;
    k->row_outer(data->storage.x, data->stride, first, n, c, data->d, pitch, out);
    return true;
}

const storage_kind storage_double = {
    .name = "double",
    .products = products,
    .combine = doubles_combine,
    .decode = decode,
    .cell = doubles_cell,
    .bytes = doubles_bytes,
    .outer = outer,
};
