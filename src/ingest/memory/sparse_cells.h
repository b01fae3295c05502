/* The entries of a sparse matrix by rows, whether the caller has it by rows or by columns. */
#ifndef INGEST_SPARSE_CELLS_H
#define INGEST_SPARSE_CELLS_H

#include "core/status.h"

typedef struct {
    size_t rows, columns;
    bool wide_start, wide_index; /* int64_t; false: int32_t */
    const void *start, *index;
    const double *value;
    /* the transposed entries of a matrix by columns; else NULL */
    int64_t *own_start;
    int32_t *own_index;
    double *own_value;
} sparse_cells;

/* Checks a matrix and borrows it, or transposes one by columns. Clear it also after a
 * failure. */
sbps_status sparse_cells_open(size_t rows, const sbps_sparse *from, sparse_cells *out,
                              sbps_error *err);
void sparse_cells_clear(sparse_cells *c);

/* Returns the first entry of a row. */
static inline size_t sparse_start(const sparse_cells *c, size_t row)
{
    return c->wide_start ? (size_t)((const int64_t *)c->start)[row]
                         : (size_t)((const int32_t *)c->start)[row];
}

/* Returns the column of an entry. */
static inline size_t sparse_column(const sparse_cells *c, size_t at)
{
    return c->wide_index ? (size_t)((const int64_t *)c->index)[at]
                         : (size_t)((const int32_t *)c->index)[at];
}

/* Returns the value of a cell, 0 where it has no entry. */
double sparse_value(const sparse_cells *c, size_t row, size_t column);
/* Returns the number of entries. */
size_t sparse_entries(const sparse_cells *c);

#endif
