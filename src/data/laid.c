/* Products have the same bits as those of rows of doubles, whatever blocks rows are laid out in. */
#include "data/laid.h"

#include <stdlib.h>

static size_t block_rows(const rows *data)
{
    return LAID_DOUBLES / data->stride;
}

/* The next block of r from `done` on; returns its rows. */
static size_t block_of(const rows *data, row_range r, size_t done, double *out)
{
    size_t n = r.n - done < block_rows(data) ? r.n - done : block_rows(data);
    row_range b = r.list ? (row_range){r.list + done, 0, n} : rows_from(r.first + done, n);
    data->storage->lay(data, b, out, NULL);
    return n;
}

void laid_products(const rows *data, const kernels *k, row_range r, const double *p,
                   const double *q, double *eta, double *deta)
{
    double x[LAID_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = block_of(data, r, done, x);
        k->row_products(x, data->stride, NULL, 0, n, p, q, eta + done,
                        deta ? deta + done : NULL);
    }
}

void laid_combine(const rows *data, const kernels *k, row_range r, const double *c, double *out)
{
    double x[LAID_DOUBLES];
    for (size_t done = 0, n; done < r.n; done += n) {
        n = block_of(data, r, done, x);
        k->row_combine(x, data->stride, NULL, 0, n, c + done, out);
    }
}

void laid_decode(const rows *data, size_t i, double *out)
{
    data->storage->lay(data, rows_from(i, 1), out, NULL);
}

bool laid_outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                size_t pitch, double *out)
{
    double x[LAID_DOUBLES];
    if (data->d > OUTER_COLUMNS) return false;
    for (size_t done = 0, more; done < n; done += more) {
        more = block_of(data, rows_from(first, n), done, x);
        k->row_outer(x, data->stride, 0, more, c + done, data->d, pitch, out);
    }
    return true;
}

/* ---- several looks ---- */

/* x of rows that lie elsewhere, in `room`. */
static void point_at(const rows *data, double *room, size_t n, rows *view)
{
    *view = *data;
    view->storage = &storage_double;
    view->x = room;
    view->n = n;
    view->place = NULL;
    view->from = NULL;
    view->recipe = NULL;
}

void laid_view(const rows *data, row_range r, double *room, rows *view)
{
    double *y = data->y ? NULL : room + r.n * data->stride;
    data->storage->lay(data, r, room, y);
    point_at(data, room, r.n, view);
    view->y = y ? y : data->y + r.first;
    if (data->weight) view->weight = data->weight + r.first;
    if (data->offset) view->offset = data->offset + r.first;
}

struct laid_rows {
    rows view;
    size_t first, n, most;
    double room[];
};

laid_rows *laid_open(const rows *data, size_t most)
{
    if (!data->storage->lay) return NULL;
    laid_rows *l = malloc(sizeof *l + most * data->stride * sizeof *l->room);
    if (!l) return NULL;
    l->first = l->n = 0;
    l->most = most;
    point_at(data, l->room, 0, &l->view);
    return l;
}

void laid_close(laid_rows *l)
{
    free(l);
}

const rows *laid_take(laid_rows *l, const rows *data, row_range *r)
{
    if (r->list || r->n > l->most) return data;
    if (r->first < l->first || r->first + r->n > l->first + l->n) {
        data->storage->lay(data, *r, l->room, NULL);
        l->first = r->first;
        l->n = l->view.n = r->n;
    }
    r->first -= l->first;
    return &l->view;
}
