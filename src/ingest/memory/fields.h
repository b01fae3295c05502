/* Columns in memory whose cells have types of their own, as in Arrow and in data frames. */
#ifndef INGEST_FIELDS_H
#define INGEST_FIELDS_H

#include "core/status.h"
#include "ingest/schema/types.h"

#include <stddef.h>
#include <stdint.h>

#define CELL_TEXT_BYTES 48 /* room for a number or a time as text */

typedef struct field field;

typedef struct {
    const char *begin, *end; /* no NUL follows */
} cell_text;

typedef enum {
    FIELD_CELL,
    FIELD_MISSING,
    FIELD_BROKEN /* the cell is invalid: its index, offset or time is out of range */
} field_state;

/* How one value is stored. */
typedef struct {
    size_t bytes;
    double (*number)(const void *at);
    void (*print)(const void *at, char *buffer); /* exactly; NULL: as its number */
} value_kind;

extern const value_kind value_int8, value_int16, value_int32, value_int64, value_uint8,
    value_uint16, value_uint32, value_uint64, value_half, value_float, value_double,
    value_decimal;

/* How the cells of a column are stored. */
typedef struct {
    /* Reads cell i as a number. NULL: cells are texts. */
    field_state (*number)(const field *f, size_t i, double *out);
    /* Reads cell i as the text that a CSV file would have; `buffer` has CELL_TEXT_BYTES
     * bytes. */
    field_state (*text)(const field *f, size_t i, char *buffer, cell_text *out);
} field_kind;

extern const field_kind field_numbers, field_nothing, field_bits, field_bytes, field_texts,
    field_large_texts, field_views, field_pointers, field_coded;

/* A column; all pointers are borrowed. */
struct field {
    const field_kind *kind;
    column_type type;
    const value_kind *value; /* of numbers, and of the codes of field_coded */
    const unsigned char *values;
    ptrdiff_t stride;         /* bytes from value to value */
    size_t first;             /* index of row 0 in `values` and `validity` */
    const uint8_t *validity;  /* a bit per cell, 0: missing; NULL: no cell is missing */
    double unit;              /* numbers are divided by it */
    const char *heap;         /* of texts */
    const void *const *heaps; /* of views */
    size_t heap_count;
    const field *levels; /* of codes */
    size_t level_count;
    double first_level; /* the code of the first */
};

/* Read row i of a column, as a number or as text; `buffer` has CELL_TEXT_BYTES bytes. */
field_state field_number(const field *f, size_t i, double *out);
field_state field_text(const field *f, size_t i, char *buffer, cell_text *out);

/* ---- entries of a sparse matrix ----
 *
 * By rows, whether the caller has it by rows or by columns. */

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
