/* Types of cells and columns: number, date, time or text, and which cells are missing.
 *
 * A column's type is the narrowest type that covers all its cells; users need not name it. */
#ifndef INGEST_TYPES_H
#define INGEST_TYPES_H

#include "core/status.h"
#include <locale.h>
#include <stdbool.h>

/* ---- columns ---- */

typedef enum {
    TYPE_UNKNOWN, /* all cells so far are missing: read as numbers */
    TYPE_NUMBER,
    TYPE_DECIMAL, /* a number with a decimal comma */
    TYPE_DATE,    /* days since 1970-01-01 */
    TYPE_TIME,    /* seconds since 1970-01-01 00:00 UTC */
    TYPE_TEXT
} column_type;

/* Types of all columns of a file, inferred so far. */
typedef struct {
    column_type *of; /* one per column */
    size_t *line;    /* line of the first cell that is not a number; 0: none */
    size_t count;
    bool changed; /* a cell contradicted its column's type: the file must be read again */
} column_types;

/* Allocates types for `count` columns, all TYPE_UNKNOWN, unless *t has them already. Fails if
 * *t has another number of columns, as when the file changed; `path` is for the message. */
sbps_status column_types_fit(column_types *t, size_t count, const char *path, sbps_error *err);
/* Frees the types; *t is then zero. */
void column_types_clear(column_types *t);
/* Widens the type of `column` to cover a cell at `line`; returns whether it changed. */
bool column_types_join(column_types *t, size_t column, column_type cell, size_t line);
/* Returns t->changed and resets it: true means read the file once more. */
bool column_types_again(column_types *t);

/* ---- cells: texts [begin, end); the byte at `end` must not continue a number ---- */

/* Returns the type of a cell that is not missing. A number in a notation that is not accepted
 * (see cell_flaw) has type TYPE_NUMBER. `comma`: a decimal comma is accepted. */
column_type cell_type(const char *begin, const char *end, bool comma, locale_t c_locale);
/* Reads a number with a decimal comma, or without decimals; returns whether it is one. */
bool comma_read(const char *begin, const char *end, locale_t c_locale, double *out);
/* Returns what stops the cell from being a number although a person would read one, such as "a
 * currency sign"; NULL if there is no such reason. */
const char *cell_flaw(const char *begin, const char *end, locale_t c_locale);

/* ---- dates and times of ISO 8601 ---- */

#define DAY_SECONDS 86400.0

/* Reads 2026-11-15 or 2026/11/15 as days since 1970-01-01; returns whether the text is a
 * date. */
bool date_read(const char *begin, const char *end, double *days);
/* Reads a date, T or a blank, and 10:20, 10:20:30 or 10:20:30.25, then nothing, Z or an offset
 * from UTC such as +01:00, as seconds since 1970-01-01 00:00 UTC; returns whether the text is a
 * time. */
bool time_read(const char *begin, const char *end, double *seconds);

/* ---- missing cells ---- */

#define NA_STRINGS "NA,N/A,n/a,na,#N/A,NULL,null,?,." /* the default list */

/* Strings that mark a missing cell. */
typedef struct {
    char **string;
    size_t count;
    bool begins[256]; /* some string begins with this byte */
    bool numbers;     /* some string is a number, such as -999 */
} na_strings;

/* Copies the strings of a comma list; NULL: NA_STRINGS. Clear *out also after a failure. */
sbps_status na_strings_create(const char *list, na_strings *out, sbps_error *err);
/* Frees the strings; *w is then zero. */
void na_strings_clear(na_strings *w);
/* Returns whether the cell is missing: empty, nan in any case and sign, or a string of *w.
 * NULL: NA is the only string. */
bool is_missing(const na_strings *w, const char *begin, const char *end);

#endif
