/* Gathering: rows are written as doubles into a block on the stack, from which the kernels
 * for storage double compute. Products have the same bits as those of storage double, because
 * each row is summed by itself. */
#include "table/gathered_rows.h"

#include <stdlib.h>
#include <string.h>

/* Returns how many rows fit into a block on the stack. */
static size_t block_rows(const rows *data)
{
    return GATHERED_DOUBLES / data->stride;
}

/* Gathers the next block of r, from its row `done` on; returns the number of its rows. */
static size_t gather_block(const rows *data, row_range r, size_t done, double *out)
{
    size_t n = r.n - done < block_rows(data) ? r.n - done : block_rows(data);
    row_range b = r.list ? (row_range){r.list + done, 0, n} : rows_from(r.first + done, n);
    data->storage.kind->gather_dense(data, b, out, NULL);
    return n;
}

void gathered_products(const rows *data, const kernels *k, row_range r, const double *p,
                       const double *q, double *eta, double *deta)
{
    double x[GATHERED_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = gather_block(data, r, done, x);
        k->row_products(x, data->stride, NULL, 0, n, p, q, eta + done,
                        deta ? deta + done : NULL);
    }
}

void gathered_combine(const rows *data, const kernels *k, row_range r, const double *c,
                      double *out)
{
    double x[GATHERED_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = gather_block(data, r, done, x);
        k->row_combine(x, data->stride, NULL, 0, n, c + done, out);
    }
}

void gathered_decode(const rows *data, size_t i, double *out)
{
    data->storage.kind->gather_dense(data, rows_from(i, 1), out, NULL);
}

bool gathered_outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                    size_t pitch, double *out)
{
    double x[GATHERED_DOUBLES];
    if (data->d > OUTER_COLUMNS) return false;
    for (size_t done = 0, more; done < n; done += more) {
        more = gather_block(data, rows_from(first, n), done, x);
        k->row_outer(x, data->stride, 0, more, c + done, data->d, pitch, out);
    }
    return true;
}

/* ---- views ---- */

/* Makes *view a table of storage double of n gathered rows x. */
static void set_view(const rows *data, double *x, size_t n, rows *view)
{
    *view = *data;
    view->storage.kind = &storage_double;
    view->storage.x = x;
    view->local_rows = n;
    view->storage.place = NULL;
    view->storage.source_row = NULL;
    view->storage.recipe = NULL;
}

void gathered_view(const rows *data, row_range r, double *buffer, rows *view)
{
    double *y = data->y ? NULL : buffer + r.n * data->stride;
    data->storage.kind->gather_dense(data, r, buffer, y);
    set_view(data, buffer, r.n, view);
    view->y = y ? y : data->y + r.first;
    if (data->weight) view->weight = data->weight + r.first;
    if (data->offset) view->offset = data->offset + r.first;
}

struct gathered_rows {
    rows view;
    size_t first, n, capacity;
    double x[];
};

gathered_rows *gathered_open(const rows *data, size_t capacity)
{
    if (!data->storage.kind->gather_dense) return NULL;
    gathered_rows *l = malloc(sizeof *l + capacity * data->stride * sizeof *l->x);
    if (!l) return NULL;
    l->first = l->n = 0;
    l->capacity = capacity;
    set_view(data, l->x, 0, &l->view);
    return l;
}

void gathered_close(gathered_rows *l)
{
    free(l);
}

const rows *gathered_take(gathered_rows *l, const rows *data, row_range *r)
{
    if (r->list || r->n > l->capacity) return data;
    if (r->first < l->first || r->first + r->n > l->first + l->n) {
        data->storage.kind->gather_dense(data, *r, l->x, NULL);
        l->first = r->first;
        l->n = l->view.local_rows = r->n;
    }
    r->first -= l->first;
    return &l->view;
}

/* ---- borrowed rows ---- */

/* Column j of row i is at place[j].first + source_row[i] place[j].step in the caller's
 * memory: row-major and column-major matrices and separate columns are all read this way.
 * Only the order of the rows is stored. Blocks are gathered column by column, so that the
 * cache misses of one column overlap. */
/* Writes column j of the rows to out[0], out[stride], ... */
static void gather_column(const rows *data, size_t j, row_range r, double *out)
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
    for (size_t j = data->intercept; j < data->d; j++) gather_column(data, j, r, out + j);
}

static double borrowed_cell(const rows *data, size_t i, size_t j)
{
    double value = 1.0;
    if (j < data->intercept) return value;
    gather_column(data, j, rows_from(i, 1), &value);
    return value;
}

/* The order of the rows; the columns are the caller's. */
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
