/* The columns of a table by number and by name, comma lists of names, and names in the header
 * of a file. */
#ifndef INGEST_COLUMN_INDEX_H
#define INGEST_COLUMN_INDEX_H

#include "ingest/schema/types.h"

/* The columns of a file, in file order. */
typedef struct {
    char **name; /* owned; NULL: a position without a column */
    size_t count;
    const char *target;        /* default target, or NULL; borrowed */
    size_t rows;               /* if the format knows it before the rows are read; else 0 */
    double filled;             /* share of cells that are not 0, if known; else 1 */
    const na_strings *missing; /* borrowed; NULL: empty cells, nan and NA */
    bool row_names;            /* the first column has no name and holds row names */
    bool typed;                /* types were given with a table in memory */
    bool comma;                /* numbers may have a decimal comma */
    column_types *types;       /* inferred from cells; borrowed; NULL: all are numbers */
    char *notes; /* messages for the user about the reading, one per line, or NULL */
} columns;

/* Allocates `count` names, all NULL. Free with columns_clear, also after a failure. */
sbps_status columns_create(size_t count, columns *out, sbps_error *err);
/* Frees names and notes; does nothing for zeroed columns. */
void columns_clear(columns *c);
/* Appends a line to c->notes. */
sbps_status columns_note(columns *c, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct {
    const char *name;
    size_t column;
} named_column;

/* The named columns sorted by name, for binary search. */
typedef struct {
    named_column *entry; /* the caller frees it; names are borrowed */
    size_t count;
} column_index;

/* Sorts the names of `c`. Fails if two columns have one name; `path` is for the message. */
sbps_status column_index_create(const char *path, const columns *c, column_index *out,
                                sbps_error *err);
/* Finds the column called `name`. Fails with the nearest name; `option` and `path` are for the
 * message. */
sbps_status column_index_find(const column_index *x, const char *path, const char *option,
                              const char *name, size_t *column, sbps_error *err);
/* Copies the next name of a comma list, trimmed, to `name` and moves *list on; `name` needs as
 * many bytes as the list. Returns false at the end. A name that contains a comma is quoted, or
 * its comma has a backslash before it. */
bool next_in_list(const char **list, char *name);
/* Returns `option`, or NULL if it is NULL or blank. */
const char *nonblank_text(const char *option);

/* ---- the first lines of a delimited file: the separator and the names of the columns ---- */

/* Returns the separator of the lines [begin, end): ',' '\t' ';' '|', or ' ' for any run of
 * blanks and tabs. */
char header_separator(const char *begin, const char *end);
/* Names the columns of a file without a header x1, x2, ... */
sbps_status header_number(columns *c, sbps_error *err);
/* Renames the second and later columns of one name, and adds a note about it. */
sbps_status header_distinguish(columns *c, sbps_error *err);
/* Marks a first column without a name as row names, which are left out, and adds a note about
 * it. */
sbps_status header_row_names(columns *c, sbps_error *err);

#endif
