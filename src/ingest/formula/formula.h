/* A formula: the response, the columns that explain it, and effects that vary from group to
 * group. The steps from its text to rows of design matrices:
 *
 *   formula_parse     text to tree; sides and group terms are separated
 *   formula_bind      names to columns of a file, which gives the columns that are needed
 *   formula_resolve   after the reader has set which of them are categories, and their slots
 *   formula_check     each row as it is read: is everything that is computed finite?
 *   formula_fit       after all rows are read: levels are known, transforms are fitted
 *   formula_recall    instead of formula_fit, for new rows: with what formula_fit computed
 *   formula_values    a row to the values of all variables; design_row makes columns */
#ifndef INGEST_FORMULA_H
#define INGEST_FORMULA_H

#include "ingest/formula/program.h"
#include "ingest/formula/terms.h"
#include "ingest/formula/transform.h"

/* A column of the file that the formula needs. */
typedef struct {
    const char *name;
    size_t source;      /* column of the file */
    const node *number; /* an expression that uses it as a number; NULL: none does */
    bool bare;          /* it is a variable by itself, or the argument of factor() */
    bool factor;        /* it is the argument of factor(): its numbers are levels */
    bool plain;         /* it is a variable by itself */
    bool group;         /* its values are groups, whatever their type */
    /* set before formula_resolve */
    bool category;
    size_t slot; /* its place in a row */
    /* set before formula_fit, for a category: the levels that rows have, in their order */
    size_t levels;
    char *const *level;
    const size_t *rank; /* of each code in the rows */
} formula_column;

/* A variable: a name, call or condition, once, however often the formula has it. */
typedef struct {
    const node *of;
    const char *name;
    size_t column;              /* category: of the formula; SIZE_MAX: computed from numbers */
    program value;              /* its number */
    size_t plain;               /* slot of a number that is a column by itself; else SIZE_MAX */
    const transform_kind *kind; /* NULL: the number itself */
    void *self;
    const node *reference; /* of relevel(): the level that comes first; NULL: unchanged */
    const node *order;     /* of factor(a, levels = c(...)): all levels; NULL: unchanged */
    size_t *place;         /* new place of each rank, with reference or order; else NULL */
    const char **level;    /* with place: names of the levels */
    bool levels;           /* it has levels; false: numbers */
    size_t width;          /* numbers or levels; known after formula_fit */
    size_t at;             /* of its numbers in formula_scratch */
} variable;

/* A term of a design. Its columns are products of those of its variables; the first variable's
 * change fastest. */
typedef struct {
    const size_t *variable;
    const bool *full; /* of each variable: a column for every level; false: all but the first */
    size_t count;
    size_t first, width; /* columns */
} design_term;

/* The design of a right-hand side. */
typedef struct {
    term_model terms;
    size_t *variable; /* index in the formula of each of terms.variable */
    bool intercept;
    design_term *term;
    size_t columns; /* including the intercept's */
    const char **names;
    size_t entries_max;    /* entries of a row that can be other than 0 */
    byte_map by_variables; /* terms by their sets of variables */
} formula_design;

/* A group term (left | factor). */
typedef struct {
    const node *left;
    const node *const *named; /* names behind the bar */
    size_t *column;           /* of the formula: their combinations are the levels */
    size_t columns;
    const char *name; /* "g" or "g:h" */
    bool correlated;
    formula_design design;
} formula_group;

/* Limits on the columns of a formula; set before formula_fit. */
typedef struct {
    bool dense;     /* set-up will build dense columns x columns matrices */
    size_t effects; /* of a level of a group, at most; 0: no limit */
} formula_limits;

typedef struct {
    pool pool;
    formula_limits limits;
    const char *text;
    const node *response, *right; /* right-hand side without group terms */
    /* of y | trials(n) + weights(w) and cbind(y, failures); NULL: none */
    const node *trials, *weights, *failures;
    const char *response_name;
    formula_column *column;
    size_t columns;
    size_t *slot; /* of each column */
    variable *variable;
    size_t variables;
    size_t numbers;     /* of all variables, per row */
    size_t entries_max; /* of any design */
    byte_map by_name;   /* variables */
    byte_map by_source; /* columns by name */
    size_t variable_capacity, column_capacity;
    formula_design fixed;
    formula_group *group;
    size_t groups;
    level_test *test; /* of all programs */
    program y, n, w;  /* response, trials or failures, weights; no steps: none, or a column */
    program *offset;
    const node **offset_node;
    size_t offsets;
} formula;

/* Parses a formula; the caller destroys *out. */
sbps_status formula_parse(const char *source, formula **out, sbps_error *err);
void formula_destroy(formula *f); /* NULL is fine */

/* Finds the formula's columns among the `count` columns `name` of a file (NULL: a column
 * without a name). `excluded`, unless NULL, marks columns that . does not stand for. */
sbps_status formula_bind(formula *f, char *const *name, const bool *excluded, size_t count,
                         sbps_error *err);
/* Compiles the formula's expressions. */
sbps_status formula_resolve(formula *f, sbps_error *err);

/* An expression whose value in a row is not allowed. */
typedef struct {
    const char *term;
    double value;
} formula_fault;

/* Returns whether all expressions are finite, and all transforms defined, in a row; otherwise
 * *fault is the first that is not. */
bool formula_check(const formula *f, const double *row, formula_fault *fault);

/* The values of expressions in all rows: `all` writes the value of a program in each of `rows`
 * rows. */
typedef struct {
    sbps_status (*all)(void *self, const program *of, double *value, sbps_error *err);
    void *self;
    size_t rows;
} row_values;

/* Returns whether a variable is a transform that is fitted to all rows. */
bool variable_needs_all_rows(const variable *v);
/* Returns whether some variable is, or the formula has groups; f may be NULL: false. */
bool formula_needs_all_rows(const formula *f);
/* Fits the transforms and makes the columns of all designs. */
sbps_status formula_fit(formula *f, const row_values *from, sbps_error *err);

/* The numbers that a transform has computed from all rows. */
typedef struct {
    const double *number;
    size_t count;
} learned_numbers;

/* Writes those of variable `index` to `out` unless NULL; returns how many there are. */
size_t formula_learned(const formula *f, size_t index, double *out);
/* Instead of formula_fit: takes the numbers of every variable from another fit. */
sbps_status formula_recall(formula *f, const learned_numbers *learned, sbps_error *err);

/* Scratch memory for the values of one row. */
typedef struct {
    double *number;   /* of the variables with numbers, one variable after another */
    size_t *level;    /* of the variables with levels; SIZE_MAX: none */
    uint32_t *column; /* room for the entries of any design */
    double *value;
} formula_scratch;

/* Allocates scratch memory, after formula_fit. Close it also after a failure. */
sbps_status scratch_open(const formula *f, formula_scratch *s, sbps_error *err);
void scratch_close(formula_scratch *s);
/* Evaluates all variables in a row. */
void formula_values(const formula *f, const double *row, const formula_scratch *s);

/* Codes the terms of a design and names its columns; g: the group term that it belongs to, or
 * NULL. */
sbps_status design_columns(formula *f, formula_design *d, const formula_group *g,
                           sbps_error *err);
/* Writes the entries of the row evaluated last that are not 0, by increasing column and without
 * the intercept's; returns how many. */
size_t design_row(const formula *f, const formula_design *d, const formula_scratch *s,
                  uint32_t *column, double *value);

/* Returns the value of an expression outside the design in a row. */
double formula_number(const formula *f, const program *g, const double *row);
/* Returns the sum of all offset() in a row. */
double formula_offset(const formula *f, const double *row);
/* Returns the formula's column that a node names; SIZE_MAX: none, it is computed. */
size_t formula_column_of(const formula *f, const node *n);

#endif
