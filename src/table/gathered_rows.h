/* Rows that are not stored as doubles next to each other: borrowed ones, which stay in the
 * caller's memory, and generated ones (generated_rows.h). They are gathered, that is written as
 * doubles into a small block, before anything is computed from them. */
#ifndef TABLE_GATHERED_ROWS_H
#define TABLE_GATHERED_ROWS_H

#include "table/rows.h"

#define GATHERED_DOUBLES ((size_t)4096) /* of a block on the stack; the longest possible row */

/* Functions of a storage_kind that has gather_dense: they gather block by block. Products have
 * the same bits as those of storage double, whatever the blocks. */
void gathered_products(const rows *data, const kernels *k, row_range r, const double *p,
                       const double *q, double *eta, double *deta);
void gathered_combine(const rows *data, const kernels *k, row_range r, const double *c,
                      double *out);
void gathered_decode(const rows *data, size_t i, double *out);
bool gathered_outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                    size_t pitch, double *out);

/* gather_dense of storage_borrowed: writes rows as `stride` doubles each; y is left alone. */
void gather_borrowed(const rows *data, row_range r, double *out, double *y);

/* Makes *view a table of storage double of the consecutive rows r, for passes that read the
 * same rows several times. `buffer` has room for r.n (stride + 1) doubles, which *view points
 * into. */
void gathered_view(const rows *data, row_range r, double *buffer, rows *view);

/* A cache of one range of at most `capacity` rows. gathered_open returns NULL where the storage
 * needs none, or without memory: the table itself is read then. */
typedef struct gathered_rows gathered_rows;
gathered_rows *gathered_open(const rows *data, size_t capacity);
void gathered_close(gathered_rows *l); /* NULL is fine */
/* Gathers the range unless it is cached. Returns the table to read x from, in which *r is then
 * the range: the cache, or `data` for a list or a range that is too long. */
const rows *gathered_take(gathered_rows *l, const rows *data, row_range *r);

#endif
