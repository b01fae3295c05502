/* The rows of a group enter the likelihood of a linear model by the sum
 *
 *   sum_i w_i (y_i - offset_i - x_i.beta - z_i.u)^2 = |A (-beta, -u, 1)|^2                  (1)
 *
 * alone, with A the matrix of rows sqrt(w_i) (x_i, z_i, y_i - offset_i), and by W = sum_i w_i.
 * Orthogonal transformations of the rows of A leave (1) unchanged, and reduce A to r rows, its
 * rank. These rows times sqrt(r/W), with the weight W/r each, have the likelihood of all rows:
 *
 *   sum_j (W/r) (-log(2 pi)/2 - log sigma - (r/W) e_j^2 / (2 sigma^2))
 *     = -W (log(2 pi)/2 + log sigma) - sum_i w_i e_i^2 / (2 sigma^2).
 *
 * By Householder's reflections, some rows at a time, which loses no digits as sums of products
 * would. A column that depends on those before it is skipped: A becomes an echelon form. */
#include "model/mixed/compressed_rows.h"
#include "core/memory.h"
#include "core/status.h"
#include "linalg/dense_matrix.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)64) /* rows that are added at a time */
/* Part of a column's norm below which it depends on the columns before it, in roundings. */
#define DEPENDENT (64.0 * DBL_EPSILON)

/* The compression of all groups. */
typedef struct {
    const mixed *m;
    compressed_rows *to;
    size_t columns; /* of A */
    size_t *count;  /* groups: rows that are left */
} compression;

/* Rows of group g that there can be after compression. */
static size_t most_rows(const compression *c, size_t g)
{
    size_t n = c->m->groups->start[g + 1] - c->m->groups->start[g];
    return n < c->columns ? n : c->columns;
}

/* Reduces n rows of the matrix a, whose columns are `pitch` apart, to an echelon form; returns
 * its number of rows. norm: of the columns, over all rows of the group so far. */
static size_t reduce(size_t n, size_t columns, size_t pitch, double *a, const double *norm)
{
    size_t rank = 0;
    for (size_t j = 0; j < columns && rank < n; j++) {
        double *x = a + j * pitch + rank;
        size_t left = n - rank;
        double size = sqrt(dot(left, x, x));
        if (!(size > DEPENDENT * norm[j])) {
            memset(x, 0, left * sizeof *x);
            continue;
        }
        /* v = x + sign(x_0) |x| e_0; I - 2 v v'/v'v takes x to -sign(x_0) |x| e_0 */
        double end = x[0] > 0.0 ? -size : size, first = x[0] - end;
        double square = size * size - x[0] * x[0] + first * first;
        x[0] = first;
        for (size_t k = j + 1; k < columns; k++) {
            double *other = a + k * pitch + rank;
            add_scaled(left, -2.0 * dot(left, x, other) / square, x, other);
        }
        memset(x, 0, left * sizeof *x);
        x[0] = end;
        rank++;
    }
    return rank;
}

/* Writes a row of A times its root weight; row: scratch of a stride. */
static void load_row(const mixed *m, size_t i, size_t pitch, double *row, double *to)
{
    const rows *data = m->data;
    size_t d = data->d, q = m->shape.effects;
    double root = data->weight ? sqrt(data->weight[i]) : 1.0,
           offset = data->offset ? data->offset[i] : 0.0;
    data->storage.kind->decode(data, i, row);
    for (size_t j = 0; j < d; j++) to[j * pitch] = root * row[j];
    for (size_t a = 0; a < q; a++) to[(d + a) * pitch] = root * mixed_z(m, i, m->column[a]);
    to[(d + q) * pitch] = root * (data->y[i] - offset);
}

/* Writes the rows of the echelon form, scaled and weighted. */
static void store_rows(const compression *c, size_t g, size_t rank, double weight, size_t pitch,
                       const double *a)
{
    const mixed *m = c->m;
    size_t d = m->data->d, q = m->shape.effects, stride = c->to->data.stride;
    double scale = weight > 0.0 ? sqrt((double)rank / weight) : 0.0;
    for (size_t i = 0; i < rank; i++) {
        size_t row = c->to->start[g] + i;
        double *x = c->to->data.storage.x + row * stride;
        for (size_t j = 0; j < d; j++) x[j] = scale * a[j * pitch + i];
        for (size_t b = 0; b < q; b++) c->to->z[row * q + b] = scale * a[(d + b) * pitch + i];
        c->to->data.y[row] = scale * a[(d + q) * pitch + i];
        c->to->data.weight[row] = weight / (double)rank;
    }
    c->count[g] = rank;
}

/* Compresses some groups; a row_sum's `add`. */
static void compress_groups(const void *self, row_range r, double *scratch, double *total)
{
    const compression *c = self;
    const mixed *m = c->m;
    size_t pitch = c->columns + BLOCK;
    double *a = scratch, *norm = a + c->columns * pitch, *row = norm + c->columns;
    (void)total;
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i), rank = 0, end = m->groups->start[g + 1];
        double weight = 0.0;
        memset(norm, 0, c->columns * sizeof *norm); /* squares at first */
        memset(a, 0, c->columns * pitch * sizeof *a);
        for (size_t first = m->groups->start[g], n; first < end; first += n) {
            n = end - first < BLOCK ? end - first : BLOCK;
            for (size_t k = 0; k < n; k++) {
                load_row(m, first + k, pitch, row, a + rank + k);
                weight += m->data->weight ? m->data->weight[first + k] : 1.0;
            }
            for (size_t j = 0; j < c->columns; j++) {
                const double *x = a + j * pitch + rank;
                norm[j] = hypot(norm[j], sqrt(dot(n, x, x)));
            }
            rank = reduce(rank + n, c->columns, pitch, a, norm);
        }
        /* a group of zeros still has its part of log sigma */
        store_rows(c, g, rank > 0 ? rank : 1, weight, pitch, a);
    }
}

/* Moves the rows of all groups together, without gaps. */
static void close_gaps(const compression *c, size_t groups)
{
    compressed_rows *to = c->to;
    size_t next = 0, stride = to->data.stride, q = c->m->shape.effects;
    for (size_t g = 0; g < groups; g++) {
        size_t from = to->start[g], n = c->count[g];
        memmove(to->data.storage.x + next * stride, to->data.storage.x + from * stride,
                n * stride * sizeof(double));
        memmove(to->z + next * q, to->z + from * q, n * q * sizeof(double));
        memmove(to->data.y + next, to->data.y + from, n * sizeof(double));
        memmove(to->data.weight + next, to->data.weight + from, n * sizeof(double));
        to->start[g] = next;
        next += n;
    }
    to->start[groups] = to->data.local_rows = next;
}

/* Allocates as many rows as there can be. */
static sbps_status allocate(compression *c, sbps_error *err)
{
    const mixed *m = c->m;
    compressed_rows *to = c->to;
    size_t count = m->groups->count, all = 0, stride = m->data->stride;
    to->start = calloc(count + 1, sizeof *to->start);
    c->count = calloc(count, sizeof *c->count);
    if (!to->start || !c->count) return fail_memory(err);
    for (size_t g = 0; g < count; g++) {
        to->start[g] = all;
        all += most_rows(c, g);
    }
    to->data = *m->data;
    to->data.offset = NULL;
    to->data.groups = NULL;
    to->data.storage = (row_storage){.kind = &storage_double, .x = new_doubles(all * stride)};
    to->data.y = new_doubles(all);
    to->data.weight = new_doubles(all);
    to->z = new_doubles(all * m->shape.effects);
    bool whole = to->data.storage.x && to->data.y && to->data.weight && to->z;
    return whole ? SBPS_OK : fail_memory(err);
}

sbps_status rows_compress(mixed *m, const rows *groups, sbps_error *err)
{
    compression c = {.m = m, .columns = m->data->d + m->shape.effects + 1};
    c.to = calloc(1, sizeof *c.to);
    if (!c.to) return fail_memory(err);
    sbps_status status = allocate(&c, err);
    const row_sum what = {.self = &c,
                          .scratch = c.columns * (c.columns + BLOCK + 1) + m->data->stride,
                          .add = compress_groups};
    if (status == SBPS_OK) status = row_sums(groups, &what, NULL, err);
    if (status == SBPS_OK) close_gaps(&c, m->groups->count);
    free(c.count);
    if (status != SBPS_OK) {
        compressed_rows_destroy(c.to);
        return status;
    }
    m->compressed = c.to;
    m->data = &c.to->data;
    m->start = c.to->start;
    m->z = c.to->z;
    return SBPS_OK;
}

void compressed_rows_destroy(compressed_rows *c)
{
    if (!c) return;
    free(c->data.storage.x);
    free(c->data.y);
    free(c->data.weight);
    free(c->start);
    free(c->z);
    free(c);
}
