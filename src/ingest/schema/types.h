/* What the cells of a column are: numbers, dates, times or text. A column's type is the least that all its
 * cells are; nobody has to name it. */
#ifndef INGEST_TYPES_H
#define INGEST_TYPES_H

#include "core/status.h"
#include <locale.h>

typedef enum {
    TYPE_UNKNOWN, /* no cell seen that is not missing: read as numbers */
    TYPE_NUMBER,
    TYPE_DECIMAL, /* a number with a comma for its point */
    TYPE_DATE,    /* days since 1970-01-01 */
    TYPE_TIME,    /* seconds since then */
    TYPE_TEXT
} column_type;

typedef struct {
    column_type *of; /* one a column */
    size_t *line;    /* of the first cell seen that is no number; 0: none */
    size_t count;
    bool changed; /* a cell was met that the reading under way had not expected */
} column_types;

/* Room for so many columns, unless there is already; fails where there is for another number: the file is
 * not what it was, or another. */
sbps_status column_types_fit(column_types *t, size_t count, const char *path, sbps_error *err);
void column_types_clear(column_types *t);
/* Takes a cell at `line` into account; true: the column is something else now. */
bool column_types_join(column_types *t, size_t column, column_type cell, size_t line);
/* Whether to read once more, which is told once. */
bool column_types_again(column_types *t);

/* Of a cell that is not missing. The byte at `end` must not continue a number. What is meant as a number
 * and written in a way that is not read (cell_flaw) is one. `comma`: numbers may have a decimal comma. */
column_type cell_type(const char *begin, const char *end, bool comma, locale_t c_locale);
/* A number with a decimal comma, or without decimals. */
bool comma_read(const char *begin, const char *end, locale_t c_locale, double *out);
/* What keeps the cell from being a number, where it is one for a human: "a currency sign". NULL: it is no
 * such cell. */
const char *cell_flaw(const char *begin, const char *end, locale_t c_locale);

#endif
