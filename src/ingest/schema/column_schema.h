/* What becomes of each column of a file. A row being read is `width` doubles:
 *   target | weight, if any | offset, if any | trials, if any | features, from slot `first` on
 * where a category holds the code of its level, and behind them weight and offset where a formula
 * calculates them. */
#ifndef INGEST_COLUMN_SCHEMA_H
#define INGEST_COLUMN_SCHEMA_H

#include "ingest/formula/formula.h"
#include "ingest/schema/chunks.h"
#include "ingest/schema/levels.h"
#include "ingest/schema/na_strings.h"
#include "ingest/schema/rows_spec.h"
#include "ingest/schema/types.h"
#include <locale.h>

/* The columns of a file, in file order. A NULL name is a place without a column. */
typedef struct {
    char **name; /* owned */
    size_t count;
    const char *target; /* taken when none is named, or NULL */
    /* what a file tells before its rows are read; else 0 rows, and 1 */
    size_t rows;
    double filled;             /* share of the cells that are not 0 */
    const na_strings *missing; /* borrowed; NULL: the few that always are */
    bool row_names;            /* the first column has no name: it names rows */
    bool typed;                /* types were said, by whoever has the table in memory */
    bool comma;                /* numbers may have a decimal comma */
    column_types *types; /* of a file whose cells tell them; borrowed; NULL: all are numbers */
    char *notes; /* what the user should know of how it was read, a line each; NULL: nothing */
} columns;

/* Room for `count` names, all NULL. */
sbps_status columns_create(size_t count, columns *out, sbps_error *err);
void columns_clear(columns *c);
/* Adds a line to the notes. */
sbps_status columns_note(columns *c, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef enum {
    USE_NONE,
    USE_NUMBER,
    USE_CAREFUL, /* a number that may be a word for a missing one, or have a decimal comma */
    USE_CATEGORY,
    USE_DATE,
    USE_TIME
} use_kind;

typedef struct {
    use_kind kind;
    size_t slot;
    levels *levels;  /* of a category; owned by the plan */
    bool inferred;   /* a category because its cells are text */
    size_t missing;  /* rows dropped for it */
    bool excluded;   /* by name */
    bool group;      /* its levels are groups of a formula */
    bool exact;      /* its numbers are levels: those above 2^53 need all their digits, */
    bool number;     /* and it is a number beside that */
    char *reference; /* the level without a column; NULL: the first. Owned by the plan */
} column_use;

typedef struct {
    const char *path;       /* what sentences call the source; borrowed */
    const columns *columns; /* borrowed */
    column_use *use;        /* one a column */
    size_t *slot;           /* of each column, for whoever reads several at once */
    size_t *numbers;        /* of each column: how many from it on are numbers */
    size_t *feature;        /* columns of the features, in the order of the design */
    size_t features;
    size_t target, weight, offset; /* columns; SIZE_MAX: none */
    size_t trials;       /* likewise; without weights that column is the weight, too */
    size_t first, width; /* slots */
    target_labels labels;
    bool labelled; /* somebody listed the labels of the target: they are texts */
    size_t weight_slot, offset_slot; /* SIZE_MAX: none */
    formula *formula;                /* that the columns are for; NULL: they are themselves */
    bool drop_missing;
    bool keeps_missing; /* rows with missing cells are kept, those cells being NAN */
    bool
        learns; /* a cell that contradicts its column's type changes it: reading begins once more */
    size_t categories; /* how many columns are */
    locale_t c_locale;
} column_schema;

sbps_status schema_create(const char *path, const columns *c, const rows_spec *spec,
                          column_schema **out, sbps_error *err);
/* The cell [begin, end) of `column` at `line` into its slot of `row`. A missing cell sets
 * *missing where such rows are dropped and fails where not. The byte at `end` must not continue a
 * number. */
sbps_status schema_read_cell(const column_schema *p, size_t column, const char *begin,
                             const char *end, size_t line, double *row, bool *missing,
                             sbps_error *err);
/* The same of a number; NAN: it is missing. */
sbps_status schema_read_number(const column_schema *p, size_t column, double value, size_t line,
                               double *row, bool *missing, sbps_error *err);
/* A row is complete and will be dropped: counts what is missing. */
void schema_drop_row(const column_schema *p, const double *row);
/* A row is complete and will be kept: checks its weight, makes counts of trials a share with their number as
 * weight, and counts its levels. */
sbps_status schema_keep_row(const column_schema *p, double *row, size_t line, sbps_error *err);
/* What a formula calculates of a row beside the design: response, weights, offset; checks that it can be. */
sbps_status schema_calculate_row(const column_schema *p, double *row, size_t line,
                                 sbps_error *err);
void schema_destroy(column_schema *p);

/* The same plan with levels of its own, for somebody who reads a part of the rows; false: no memory. */
bool schema_fork(const column_schema *p, column_schema *out);
/* Forgets the levels of the fork. */
void schema_reset(column_schema *fork);
/* The fork's levels become the plan's, in the order of their appearance, and its rows get their codes;
 * false: no memory. */
bool schema_merge(const column_schema *p, const column_schema *fork, chunks *read);
void schema_close_fork(column_schema *fork);

/* NULL for an option that is NULL or blank: not given. */
const char *nonblank_text(const char *option);

#endif
