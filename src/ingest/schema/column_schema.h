/* The role of every column of a file, and the layout of a row as read.
 *
 * A row is `width` doubles:
 *   target | weight, if any | offset, if any | trials, if any | features, from slot `first` on
 * A category's slot holds the code of its level. With a formula, two more slots may follow for
 * a weight and an offset that the formula computes. */
#ifndef INGEST_COLUMN_SCHEMA_H
#define INGEST_COLUMN_SCHEMA_H

#include "ingest/formula/formula.h"
#include "ingest/schema/chunks.h"
#include "ingest/schema/column_index.h"
#include "ingest/schema/levels.h"
#include "ingest/schema/rows_spec.h"

typedef enum {
    USE_NONE, /* not read */
    USE_NUMBER,
    USE_CAREFUL, /* a number that needs more checks: missing codes, decimal comma, all digits */
    USE_CATEGORY,
    USE_DATE,
    USE_TIME
} use_kind;

/* How one column is read. */
typedef struct {
    use_kind kind;
    size_t slot;     /* position in the row */
    levels *levels;  /* of a category; owned by the schema */
    bool inferred;   /* a category because its cells are text */
    size_t missing;  /* rows dropped because of it */
    bool excluded;   /* by --exclude, or a column of row names */
    bool group;      /* its levels are groups of a formula */
    bool exact;      /* its numbers are levels: numbers above 2^53 need all their digits */
    bool number;     /* the formula also uses it as a number */
    char *reference; /* the dropped level; NULL: the first. Owned by the schema */
} column_use;

typedef struct {
    const char *path;              /* the source, in messages; borrowed */
    const columns *columns;        /* borrowed */
    column_use *use;               /* one per column */
    size_t *slot;                  /* use[i].slot as an array, for linalg's cell kernels */
    size_t *numbers;               /* of each column: how many columns from it on are numbers */
    size_t *feature;               /* columns of the features, in the order of the design */
    size_t features;               /* how many */
    size_t target, weight, offset; /* columns; SIZE_MAX: none */
    size_t trials;                 /* likewise; without weights it is the weight, too */
    size_t first, width;           /* slot of the first feature; doubles per row */
    target_labels labels;
    bool labelled;                   /* the labels of the target were listed: they are texts */
    size_t weight_slot, offset_slot; /* SIZE_MAX: none */
    formula *formula;                /* whose columns these are, or NULL; owned */
    bool drop_missing;               /* a missing cell drops its row; false: it is an error */
    bool keeps_missing;              /* rows with missing cells are kept, those cells as NAN */
    bool learns; /* a cell that contradicts its column's type changes it (types->changed) */
    size_t categories; /* number of columns of kind USE_CATEGORY */
    locale_t c_locale; /* for number_read */
} column_schema;

/* Assigns roles to the columns as `spec` requests. `path` and `c` must outlive *out; free it
 * with schema_destroy. */
sbps_status schema_create(const char *path, const columns *c, const rows_spec *spec,
                          column_schema **out, sbps_error *err);
/* Frees the schema; NULL is fine. */
void schema_destroy(column_schema *p);

/* Writes the cell [begin, end) of `column`, at `line`, to its slot of `row`. A missing cell
 * sets *missing if such rows are dropped, and fails if not. The byte at `end` must not continue
 * a number. */
sbps_status schema_read_cell(const column_schema *p, size_t column, const char *begin,
                             const char *end, size_t line, double *row, bool *missing,
                             sbps_error *err);
/* The same for a cell that is a number already; NAN: it is missing. */
sbps_status schema_read_number(const column_schema *p, size_t column, double value, size_t line,
                               double *row, bool *missing, sbps_error *err);
/* Call for a complete row that is dropped: counts its missing cells by column. */
void schema_drop_row(const column_schema *p, const double *row);
/* Call for a complete row that is kept: checks its weight, turns successes of trials into a
 * proportion with the trials as weight, and counts its levels. */
sbps_status schema_keep_row(const column_schema *p, double *row, size_t line, sbps_error *err);
/* Computes what a formula derives from a row besides the design: response, weight and offset.
 * Fails if a term of the formula is not finite there. */
sbps_status schema_calculate_row(const column_schema *p, double *row, size_t line,
                                 sbps_error *err);

/* Makes *out a copy of `p` with empty levels of its own, for reading part of the rows in
 * another thread; it borrows the rest. Close it also after a failure. Returns false without
 * memory. */
bool schema_fork(const column_schema *p, column_schema *out);
/* Removes the levels and counts of the fork. */
void schema_reset(column_schema *fork);
/* Adds the fork's levels to those of `p`, in order of appearance, and changes the codes of its
 * rows `read` accordingly. Returns false without memory. */
bool schema_merge(const column_schema *p, const column_schema *fork, chunks *read);
/* Frees what schema_fork allocated. */
void schema_close_fork(column_schema *fork);

#endif
