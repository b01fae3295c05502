/* A matrix by rows is borrowed; one by columns is transposed: entries per row are counted, and
 * then each column's entries are appended to their rows. */
#include "ingest/memory/sparse_cells.h"

#include <stdlib.h>
#include <string.h>

static sbps_status refuse_matrix(const char *what, sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG, "the sparse matrix: %s", what);
}

/* Returns what is wrong with the entries, or NULL; each run must increase and be below
 * `limit`. */
static const char *flaw_of(const sparse_cells *c, size_t runs, size_t limit)
{
    if (!c->start) return "its starts are NULL";
    if (sparse_start(c, 0) != 0) return "its entries do not begin at 0";
    if (sparse_start(c, runs) > PTRDIFF_MAX) return "its starts are negative";
    if (sparse_start(c, runs) > 0 && (!c->index || !c->value)) return "its entries are NULL";
    for (size_t k = 0; k < runs; k++) {
        size_t begin = sparse_start(c, k), end = sparse_start(c, k + 1);
        if (end < begin || end > sparse_start(c, runs)) return "its starts decrease";
        for (size_t at = begin; at < end; at++) {
            if (sparse_column(c, at) >= limit) return "an entry is outside it";
            if (at > begin && sparse_column(c, at) <= sparse_column(c, at - 1))
                return "entries are not in increasing order, or there are two for a cell";
        }
    }
    return NULL;
}

static const char *flaw_of_names(const sbps_sparse *from)
{
    if (from->struct_size < sizeof *from) return "its struct_size is not set";
    if (from->columns > 0 && !from->names) return "its columns have no names";
    for (size_t j = 0; j < from->columns; j++)
        if (!from->names[j]) return "a column has no name";
    return NULL;
}

static sbps_status transpose_cells(sparse_cells *c, const sparse_cells *by_columns,
                                   sbps_error *err)
{
    size_t entries = sparse_start(by_columns, c->columns);
    int64_t *next = calloc(c->rows + 2, sizeof *next);
    c->own_start = next;
    c->own_index = malloc((entries + 1) * sizeof *c->own_index);
    c->own_value = malloc((entries + 1) * sizeof *c->own_value);
    if (!next || !c->own_index || !c->own_value) return fail_memory(err);
    for (size_t at = 0; at < entries; at++) next[sparse_column(by_columns, at) + 2]++;
    for (size_t i = 0; i < c->rows; i++) next[i + 2] += next[i + 1];
    for (size_t j = 0; j < c->columns; j++)
        for (size_t at = sparse_start(by_columns, j); at < sparse_start(by_columns, j + 1);
             at++) {
            size_t to = (size_t)next[sparse_column(by_columns, at) + 1]++;
            c->own_index[to] = (int32_t)j;
            c->own_value[to] = by_columns->value[at];
        }
    c->start = c->own_start; /* next[i] is now where row i ends */
    c->wide_start = true;
    c->index = c->own_index;
    c->wide_index = false;
    c->value = c->own_value;
    return SBPS_OK;
}

sbps_status sparse_cells_open(size_t rows, const sbps_sparse *from, sparse_cells *out,
                              sbps_error *err)
{
    *out = (sparse_cells){0};
    const char *flaw = flaw_of_names(from);
    if (flaw) return refuse_matrix(flaw, err);
    if (from->columns > INT32_MAX) return refuse_matrix("it has more than 2^31 columns", err);
    const sparse_cells borrowed = {.rows = rows,
                                   .columns = from->columns,
                                   .wide_start = from->wide_start,
                                   .wide_index = from->wide_index,
                                   .start = from->start,
                                   .index = from->index,
                                   .value = from->values};
    *out = borrowed;
    flaw = from->by_columns ? flaw_of(&borrowed, from->columns, rows)
                            : flaw_of(&borrowed, rows, from->columns);
    if (flaw) return refuse_matrix(flaw, err);
    return from->by_columns ? transpose_cells(out, &borrowed, err) : SBPS_OK;
}

void sparse_cells_clear(sparse_cells *c)
{
    free(c->own_start);
    free(c->own_index);
    free(c->own_value);
}

double sparse_value(const sparse_cells *c, size_t row, size_t column)
{
    size_t low = sparse_start(c, row), end = sparse_start(c, row + 1), high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sparse_column(c, middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && sparse_column(c, low) == column ? c->value[low] : 0.0;
}

size_t sparse_entries(const sparse_cells *c)
{
    return sparse_start(c, c->rows);
}
