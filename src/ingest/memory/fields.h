/* Columns in memory whose cells have types of their own, as Arrow and data frames have them. */
#ifndef INGEST_FIELDS_H
#define INGEST_FIELDS_H

#include "ingest/schema/types.h"
#include <stddef.h>
#include <stdint.h>

#define CELL_TEXT_BYTES 48 /* bytes of a number or a time as text */

typedef struct field field;

typedef struct {
    const char *begin, *end; /* no byte stands behind it */
} cell_text;

typedef enum {
    FIELD_CELL,
    FIELD_MISSING,
    FIELD_BROKEN /* points at nothing: not what it says it is */
} field_state;

/* How one value lies in memory. */
typedef struct {
    size_t bytes;
    double (*number)(const void *at);
    void (*print)(const void *at, char *buffer); /* exactly; NULL: as its number */
} value_kind;

extern const value_kind value_int8, value_int16, value_int32, value_int64, value_uint8,
    value_uint16, value_uint32, value_uint64, value_half, value_float, value_double,
    value_decimal;

/* How the cells of a column do. */
typedef struct {
    /* NULL: they are texts. */
    field_state (*number)(const field *f, size_t i, double *out);
    /* As a CSV file has it; `room` is CELL_TEXT_BYTES bytes. */
    field_state (*text)(const field *f, size_t i, char *buffer, cell_text *out);
} field_kind;

extern const field_kind field_numbers, field_nothing, field_bits, field_bytes, field_texts,
    field_large_texts, field_views, field_pointers, field_coded;

struct field {
    const field_kind *kind;
    column_type type;
    const value_kind *value; /* of numbers; of the codes of coded cells */
    const unsigned char *values;
    ptrdiff_t stride;         /* bytes from value to value */
    size_t first;             /* of `values` and `validity`, the row 0 */
    const uint8_t *validity;  /* a bit each, 0: missing; NULL: none is */
    double unit;              /* numbers are divided by it */
    const char *heap;         /* of texts */
    const void *const *heaps; /* of views */
    size_t heap_count;
    const field *levels; /* of codes */
    size_t level_count;
    double first_level; /* the code of the first */
};

/* Row i, whatever is missing of it. */
field_state field_number(const field *f, size_t i, double *out);
field_state field_text(const field *f, size_t i, char *buffer, cell_text *out);

#endif
