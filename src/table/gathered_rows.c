/* Products have the same bits as those of rows of doubles, whatever blocks rows are laid out in. */
#include "table/gathered_rows.h"

#include <stdlib.h>

static size_t block_rows(const rows *data)
{
    return GATHERED_DOUBLES / data->stride;
}

/* The next block of r from `done` on; returns its rows. */
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

/* ---- several looks ---- */

/* x of rows that lie elsewhere, in `room`. */
static void point_at(const rows *data, double *x, size_t n, rows *view)
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
    point_at(data, buffer, r.n, view);
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
    point_at(data, l->x, 0, &l->view);
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
