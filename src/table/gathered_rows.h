/* Rows that do not lie in memory as doubles side by side, and are laid so before anything is done with them: a caller's
 * (given.c), or such as are made on the fly (generated.c). */
#ifndef TABLE_GATHERED_ROWS_H
#define TABLE_GATHERED_ROWS_H

#include "table/rows.h"

#define GATHERED_DOUBLES ((size_t)4096) /* of a block of rows, on the stack: the longest row */

/* Calls of such a storage that has `lay`: by small blocks. */
void gathered_products(const rows *data, const kernels *k, row_range r, const double *p,
                       const double *q, double *eta, double *deta);
void gathered_combine(const rows *data, const kernels *k, row_range r, const double *c,
                      double *out);
void gathered_decode(const rows *data, size_t i, double *out);
bool gathered_outer(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                    size_t pitch, double *out);

/* Who looks at the same rows several times has them laid out once. Consecutive rows r as a table of their own, in which
 * they are the first: room for r.n (stride + 1) doubles. */
void gathered_view(const rows *data, row_range r, double *buffer, rows *view);

/* The rows of the last range asked for, kept; at most so many. NULL: the storage needs it not, or there is no memory. */
typedef struct gathered_rows gathered_rows;
gathered_rows *gathered_open(const rows *data, size_t capacity);
void gathered_close(gathered_rows *l);
/* The table to read x from, and in *r where it is there. */
const rows *gathered_take(gathered_rows *l, const rows *data, row_range *r);

#endif
