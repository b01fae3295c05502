/* Rows of floats: half the memory, and half of what a batch reads. Sums are made in double, so the
 * only loss is that of storing: a relative 2^-25 a value, as if the data had been that imprecise. */
#include "table/float.h"

#include <stdlib.h>
#include <string.h>

static void products(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta)
{
    k->row_products_float(data->storage.x_float, data->stride, r.list, r.first, r.n, p, q, eta,
                          deta);
}

static void floats_combine(const rows *data, const kernels *k, row_range r, const double *c,
                           double *out)
{
    k->row_combine_float(data->storage.x_float, data->stride, r.list, r.first, r.n, c, out);
}

static void decode(const rows *data, size_t i, double *out)
{
    const float *x = data->storage.x_float + i * data->stride;
    for (size_t j = 0; j < data->stride; j++) out[j] = x[j];
}

static double floats_cell(const rows *data, size_t i, size_t j)
{
    return data->storage.x_float[i * data->stride + j];
}

static double floats_bytes(const rows *data)
{
    return (double)(data->local_rows * data->stride * sizeof *data->storage.x_float);
}

static bool outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out)
{
    if (data->d > OUTER_COLUMNS) return false;
    k->row_outer_float(data->storage.x_float, data->stride, first, n, c, data->d, pitch, out);
    return true;
}

const storage_kind storage_float = {
    .name = "float",
    .products = products,
    .combine = floats_combine,
    .decode = decode,
    .cell = floats_cell,
    .bytes = floats_bytes,
    .outer = outer,
};

/* Value i goes where value i / 2 was, which has been read: no second table is needed. */
void floats_from_doubles(rows *r)
{
    size_t count = r->local_rows * r->stride;
    unsigned char *at = (unsigned char *)r->storage.x;
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, at + i * sizeof value, sizeof value);
        float less = (float)value;
        memcpy(at + i * sizeof less, &less, sizeof less);
    }
    /* without columns there is nothing to make smaller, and realloc to nothing would free it */
    bool owned = !r->storage.mapped && count > 0;
    void *half = owned ? realloc(r->storage.x, count * sizeof(float)) : NULL;
    r->storage.x_float = half ? half : (void *)r->storage.x;
    r->storage.x = NULL;
    r->storage.kind = &storage_float;
}
