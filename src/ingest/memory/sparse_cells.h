/* Entries of a sparse matrix by rows, whichever way a caller has them. */
#ifndef INGEST_SPARSE_CELLS_H
#define INGEST_SPARSE_CELLS_H

#include "core/status.h"

typedef struct {
    size_t rows, columns;
    bool wide_start, wide_index; /* int64_t; else int32_t */
    const void *start, *index;
    const double *value;
    /* where they were turned from columns to rows, else NULL */
    int64_t *own_start;
    int32_t *own_index;
    double *own_value;
} sparse_cells;

/* Checks the matrix. Clear it also after a failure. */
sbps_status sparse_cells_open(size_t rows, const sbps_sparse *from, sparse_cells *out,
                              sbps_error *err);
void sparse_cells_clear(sparse_cells *c);

static inline size_t sparse_start(const sparse_cells *c, size_t row)
{
    return c->wide_start ? (size_t)((const int64_t *)c->start)[row]
                         : (size_t)((const int32_t *)c->start)[row];
}

static inline size_t sparse_column(const sparse_cells *c, size_t at)
{
    return c->wide_index ? (size_t)((const int64_t *)c->index)[at]
                         : (size_t)((const int32_t *)c->index)[at];
}

/* The cell, 0 where there is no entry. */
double sparse_cell(const sparse_cells *c, size_t row, size_t column);
size_t sparse_entries(const sparse_cells *c);

#endif
