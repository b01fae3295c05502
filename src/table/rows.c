/* Creation, destruction and targets of tables; storages double, float and sparse. */
#include "table/rows.h"

#include "core/memory.h"
#include "core/text.h"
#include "linalg/kernels.h"
#include "table/generated_rows.h"
#include "table/mapped_table.h"
#include "table/row_groups.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void rows_destroy(rows *r)
{
    if (!r) return;
    for (size_t j = 0; r->table.names && j < r->d; j++) free(r->table.names[j]);
    free(r->table.names);
    for (size_t j = 0; r->table.origin && j < r->d; j++) {
        free(r->table.origin[j].column);
        free(r->table.origin[j].level);
        free(r->table.origin[j].reference);
    }
    free(r->table.origin);
    free(r->table.target);
    free(r->table.design);
    free(r->table.notes);
    free_texts(r->table.labels, r->table.label_count);
    free(r->table.source);
    free(r->partition);
    table_unmap(r);
    free(r->storage.x);
    free(r->storage.x_float);
    free(r->storage.start);
    free(r->storage.column);
    free(r->storage.value);
    free(r->storage.place);
    free(r->storage.source_row);
    free(r->y);
    free(r->weight);
    free(r->offset);
    free(r->table.mean);
    free(r->table.sd);
    row_groups_destroy(r->groups);
    rows_destroy(r->member_rows);
    free(r->storage.owner);
    free(r->storage.recipe);
    free(r);
}

sbps_status rows_none(rows **out, sbps_error *err)
{
    rows *r = *out = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (rows){.storage.kind = &storage_double, .local_rows = 1, .stride = KERNEL_LANES};
    r->storage.x = new_doubles(r->stride);
    r->y = new_doubles(1);
    r->table.target = copy_text("");
    if (r->storage.x && r->y && r->table.target) {
        r->table.hash = rows_hash(r);
        return SBPS_OK;
    }
    rows_destroy(r);
    *out = NULL;
    return fail_memory(err);
}

const double *rows_targets(const rows *data, row_range r, double *buffer)
{
    if (!data->y) return generated_targets(data, r, buffer);
    if (!r.list) return data->y + r.first;
    for (size_t i = 0; i < r.n; i++) buffer[i] = data->y[r.list[i]];
    return buffer;
}

sbps_status rows_note(rows *r, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = notes_add(&r->table.notes, format, values, err);
    va_end(values);
    return status;
}

/* ---- storages ----
 *
 * Storages of x in memory and in converted tables. Products are sums over the columns in the
 * fixed lanes of linalg/kernels.h, in double whatever the storage.
 *
 *   double   rows of doubles, one after another: what the kernels read directly
 *   float    rows of floats: half the memory, and half of what a mini-batch reads. Storing a
 *            value as a float changes it by a relative 2^-25 at most; sums are in double
 *   sparse   entries other than 0 by rows (CSR), in the order of their columns. The intercept
 *            has no entries; a table of zeros and ones has no values, which are then 1 each */

/* ---- double ---- */

static void double_products(const rows *data, const kernels *k, row_range r, const double *p,
                            const double *q, double *eta, double *deta)
{
    k->row_products(data->storage.x, data->stride, r.list, r.first, r.n, p, q, eta, deta);
}

static void double_combine(const rows *data, const kernels *k, row_range r, const double *c,
                           double *out)
{
    k->row_combine(data->storage.x, data->stride, r.list, r.first, r.n, c, out);
}

static void double_decode(const rows *data, size_t i, double *out)
{
    memcpy(out, data->storage.x + i * data->stride, data->stride * sizeof *out);
}

static double double_cell(const rows *data, size_t i, size_t j)
{
    return data->storage.x[i * data->stride + j];
}

static double double_bytes(const rows *data)
{
    return (double)(data->local_rows * data->stride * sizeof *data->storage.x);
}

static bool double_outer(const rows *data, const kernels *k, size_t first, size_t n,
                         const double *c, size_t pitch, double *out)
{
    if (data->d > OUTER_COLUMNS) return false;
    k->row_outer(data->storage.x, data->stride, first, n, c, data->d, pitch, out);
    return true;
}

const storage_kind storage_double = {
    .name = "double",
    .products = double_products,
    .combine = double_combine,
    .decode = double_decode,
    .cell = double_cell,
    .bytes = double_bytes,
    .outer = double_outer,
};

/* ---- float ---- */

static void float_products(const rows *data, const kernels *k, row_range r, const double *p,
                           const double *q, double *eta, double *deta)
{
    k->row_products_float(data->storage.x_float, data->stride, r.list, r.first, r.n, p, q, eta,
                          deta);
}

static void float_combine(const rows *data, const kernels *k, row_range r, const double *c,
                          double *out)
{
    k->row_combine_float(data->storage.x_float, data->stride, r.list, r.first, r.n, c, out);
}

static void float_decode(const rows *data, size_t i, double *out)
{
    const float *x = data->storage.x_float + i * data->stride;
    for (size_t j = 0; j < data->stride; j++) out[j] = x[j];
}

static double float_cell(const rows *data, size_t i, size_t j)
{
    return data->storage.x_float[i * data->stride + j];
}

static double float_bytes(const rows *data)
{
    return (double)(data->local_rows * data->stride * sizeof *data->storage.x_float);
}

static bool float_outer(const rows *data, const kernels *k, size_t first, size_t n,
                        const double *c, size_t pitch, double *out)
{
    if (data->d > OUTER_COLUMNS) return false;
    k->row_outer_float(data->storage.x_float, data->stride, first, n, c, data->d, pitch, out);
    return true;
}

const storage_kind storage_float = {
    .name = "float",
    .products = float_products,
    .combine = float_combine,
    .decode = float_decode,
    .cell = float_cell,
    .bytes = float_bytes,
    .outer = float_outer,
};

/* Float i overwrites double i / 2, which has been read already: no second table is needed. */
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
    /* without columns the size is 0, and realloc would free x */
    bool owned = !r->storage.mapped && count > 0;
    void *half = owned ? realloc(r->storage.x, count * sizeof(float)) : NULL;
    r->storage.x_float = half ? half : (void *)r->storage.x;
    r->storage.x = NULL;
    r->storage.kind = &storage_float;
}

/* ---- sparse ---- */

/* Returns the entries in the layout of the kernels. */
static sparse_rows kernel_view(const rows *data)
{
    return (sparse_rows){data->storage.start, data->storage.column, data->storage.value,
                         data->intercept};
}

static void sparse_products(const rows *data, const kernels *k, row_range r, const double *p,
                            const double *q, double *eta, double *deta)
{
    const sparse_rows x = kernel_view(data);
    k->sparse_products(&x, r.list, r.first, r.n, p, q, eta, deta);
}

static void sparse_combine(const rows *data, const kernels *k, row_range r, const double *c,
                           double *out)
{
    const sparse_rows x = kernel_view(data);
    k->sparse_combine(&x, r.list, r.first, r.n, c, out);
}

/* Returns the value of an entry. */
static double entry(const rows *data, size_t at)
{
    return data->storage.value ? data->storage.value[at] : 1.0;
}

static void sparse_decode(const rows *data, size_t i, double *out)
{
    memset(out, 0, data->stride * sizeof *out);
    if (data->intercept) out[0] = 1.0;
    for (size_t at = data->storage.start[i]; at < data->storage.start[i + 1]; at++)
        out[data->storage.column[at]] = entry(data, at);
}

/* Binary search among the entries of row i. */
static double sparse_cell(const rows *data, size_t i, size_t j)
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

static double sparse_bytes(const rows *data)
{
    double each =
        sizeof *data->storage.column + (data->storage.value ? sizeof *data->storage.value : 0);
    return (double)rows_entries(data) * each +
           (double)(data->local_rows + 1) * sizeof *data->storage.start;
}

/* Adds the entries one by one, and counts the rows without one in each column. */
static void sparse_sums(const rows *data, const double *shift, double *sum, double *square,
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

/* Adds the zeros of each column at once, and the intercept. */
static void sparse_sum_rest(const rows *data, const double *shift, double *sum, double *square,
                            const double *zeros)
{
    for (size_t j = 0; j < data->d; j++) {
        double t = (j == 0 && data->intercept ? 1.0 : 0.0) - shift[j];
        sum[j] += zeros[j] * t;
        square[j] += zeros[j] * t * t;
    }
}

/* A row of m entries adds m^2/2 products at scattered addresses; each costs about ten times
 * as much as one of the d^2/2 products of a dense kernel. */
#define SCATTER_COST 10.0

/* Returns false where dense products would be cheaper than scattered ones. */
static bool sparse_outer(const rows *data, const kernels *k, size_t first, size_t n,
                         const double *c, size_t pitch, double *out)
{
    (void)k;
    double d = (double)data->d, products = 0.0;
    for (size_t i = first; i < first + n; i++) {
        double m = (double)(data->storage.start[i + 1] - data->storage.start[i]);
        products += m * m;
    }
    if (SCATTER_COST * products > (double)n * d * d) return false;
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
    .products = sparse_products,
    .combine = sparse_combine,
    .decode = sparse_decode,
    .cell = sparse_cell,
    .bytes = sparse_bytes,
    .sums = sparse_sums,
    .sum_rest = sparse_sum_rest,
    .outer = sparse_outer,
};
