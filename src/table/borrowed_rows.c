/* Rows of a caller's, looked at where they lie: column j of row i is at place[j].first + from[i] place[j].step. So nothing but
 * the order is kept: row-major, column-major and columns of their own are all alike. Rows are laid side by side in a
 * small block before anything is done with them, the intercept's 1 first: products then have the same bits as those of
 * rows of doubles. Column after column, so that the far lines that the first one asks for come together. */
#include "table/borrowed_rows.h"

#include <string.h>

static void take_column(const rows *data, size_t j, row_range r, double *out)
{
    const column_place *at = &data->storage.place[j];
    for (size_t i = 0; i < r.n; i++) {
        size_t row = data->storage.source_row[row_index(r, i)];
        memcpy(out + i * data->stride, at->first + (ptrdiff_t)row * at->step, sizeof *out);
    }
}

void gather_borrowed(const rows *data, row_range r, double *out, double *y)
{
    (void)y;
    memset(out, 0, r.n * data->stride * sizeof *out);
    for (size_t i = 0; data->intercept && i < r.n; i++) out[i * data->stride] = 1.0;
    for (size_t j = data->intercept; j < data->d; j++) take_column(data, j, r, out + j);
}

static double borrowed_cell(const rows *data, size_t i, size_t j)
{
    double value = 1.0;
    if (j < data->intercept) return value;
    take_column(data, j, rows_from(i, 1), &value);
    return value;
}

/* Ours: the order. The rest is the caller's. */
static double borrowed_bytes(const rows *data)
{
    return (double)(data->local_rows * sizeof *data->storage.source_row);
}

const storage_kind storage_borrowed = {
    .name = "given",
    .products = gathered_products,
    .combine = gathered_combine,
    .decode = gathered_decode,
    .cell = borrowed_cell,
    .bytes = borrowed_bytes,
    .outer = gathered_outer,
    .gather_dense = gather_borrowed,
};
