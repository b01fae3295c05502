/* A formula: what is explained, by which columns of a table, and what varies from group to group.
 *
 *   formula_parse    text to tree
 *   formula_bind     names to columns of a file: says which are needed
 *   formula_resolve   who reads has said which of them are categories, and where they lie in a row
 *   formula_check    a row as it is read: is all that is calculated finite?
 *   formula_fit      all rows are read: levels are known, bases that depend on all rows are made
 *   formula_recall   the same for rows to come, by what formula_fit has learned
 *   formula_values   a row: the values of all variables, of which designs make columns */
#ifndef INGEST_FORMULA_H
#define INGEST_FORMULA_H

#include "ingest/formula/program.h"
#include "ingest/formula/terms.h"
#include "ingest/formula/transform.h"

/* A column of the file that the formula needs. */
typedef struct {
    const char *name;
    size_t source; /* column of the file */
    const node
        *number; /* where it is calculated with, so that it must hold numbers; NULL: nowhere */
    bool bare;   /* it is a variable as it is */
    bool factor; /* the argument of factor(): its numbers are levels */
    bool plain;  /* it is a term as it is */
    bool group;  /* its values are groups, whatever they are */
    /* told before formula_resolve */
    bool category;
    size_t slot; /* in a row */
    /* told before formula_fit, of a category: levels that rows have, in their order */
    size_t levels;
    char *const *level;
    const size_t *rank; /* of each code that a row holds */
} formula_column;

/* What stands for itself in the formula, once, however often it is named. */
typedef struct {
    const node *of;
    const char *name;
    size_t column; /* a category: of the formula; SIZE_MAX: made of numbers */
    program value; /* of numbers */
    size_t plain;  /* slot of the number, where it is a column as it is; else SIZE_MAX */
    const transform_kind *kind; /* NULL: the number itself */
    void *self;
    const node *reference; /* of relevel(): the level that comes first; NULL: they stay */
    const node *order;     /* of factor(a, levels = c(...)): all levels; NULL: as they are */
    size_t *place;         /* of each rank, where reference or order say so; else NULL */
    const char **level;    /* with place: names of the levels */
    bool levels;           /* it has levels, else numbers */
    size_t width;          /* numbers, or levels; known after formula_fit */
    size_t at;             /* of its numbers in formula_scratch */
} variable;

/* A term of a design: its columns are products, of which those of its first variable change fastest. */
typedef struct {
    const size_t *variable;
    const bool *full; /* a column for every level, else none for the first */
    size_t count;
    size_t first, width; /* columns */
} design_term;

/* What a right-hand side becomes. */
typedef struct {
    term_model terms;
    size_t *variable; /* of the formula, for each of terms.variable */
    bool intercept;
    design_term *term;
    size_t terms_used;
    size_t columns; /* the intercept's among them */
    const char **names;
    size_t entries_max;    /* entries of a row that can be other than 0 */
    byte_map by_variables; /* the terms */
} formula_design;

/* (left | factor) */
typedef struct {
    const node *left;
    const node *const *named; /* the names behind the bar */
    size_t *column;           /* of the formula: their combinations are the levels */
    size_t columns;
    const char *name; /* "g" or "g:h" */
    bool correlated;
    formula_design design;
} formula_group;

/* Limits of a formula's columns; set before formula_fit. */
typedef struct {
    bool dense; /* matrices of columns x columns numbers will be made of the fixed columns */
    size_t effects; /* of a level of a group, at most; 0: any number */
} formula_limits;

typedef struct {
    pool pool;
    formula_limits limits;
    const char *text;
    const node *response, *right; /* right without group terms */
    const node *trials, *weights,
        *failures; /* NULL: none; y | trials(n) + weights(w), cbind(y, failures) */
    const char *response_name;
    formula_column *column;
    size_t columns;
    size_t *slot; /* of each column */
    variable *variable;
    size_t variables;
    size_t numbers;     /* of all variables, of a row */
    size_t entries_max; /* entries of any design */
    byte_map by_name;   /* of the variables */
    byte_map by_source; /* names of the columns */
    size_t variable_capacity, column_capacity;
    formula_design fixed;
    formula_group *group;
    size_t groups;
    level_test *test;         /* of all programs */
    program y, n, w, *offset; /* of response, trials or failures, weights; no steps: none */
    const node **offset_node;
    size_t offsets;
} formula;

sbps_status formula_parse(const char *text, formula **out, sbps_error *err);
void formula_destroy(formula *f);

/* `name` are the columns of the file, NULL for places without one; the dot does not stand for those of
 * which `apart` is true. */
sbps_status formula_bind(formula *f, char *const *name, const bool *apart, size_t count,
                         sbps_error *err);
sbps_status formula_resolve(formula *f, sbps_error *err);

/* What of a row cannot be: a sentence's beginning, or NULL. */
typedef struct {
    const char *term;
    double value;
} formula_fault;

bool formula_check(const formula *f, const double *row, formula_fault *fault);

/* Levels are known: those that the formula names are found among them. */
sbps_status formula_order(formula *f, sbps_error *err);

/* Calls back for the argument of every transform that wants to see all rows; `value` has room for them. */
typedef struct {
    sbps_status (*all)(void *self, const program *of, double *value, sbps_error *err);
    void *self;
    size_t rows;
} row_values;

/* Whether it can be evaluated only when all rows are there. */
bool variable_waits(const variable *v);
sbps_status formula_fit(formula *f, const row_values *from, sbps_error *err);

/* What a variable learned of all rows. */
typedef struct {
    const double *number;
    size_t count;
} learned_numbers;

/* The same to `out` unless NULL; returns how many. */
size_t formula_learned(const formula *f, size_t variable, double *out);
/* In the place of formula_fit: what every variable of another such formula has learned. */
sbps_status formula_recall(formula *f, const learned_numbers *learned, sbps_error *err);

/* Values of a row. */
typedef struct {
    double *number;   /* of the variables of numbers, one behind another */
    size_t *level;    /* of the variables with levels */
    uint32_t *column; /* room for the entries of any design */
    double *value;
} formula_scratch;

/* After design_columns. Close it also after a failure. */
sbps_status scratch_open(const formula *f, formula_scratch *s, sbps_error *err);
void scratch_close(formula_scratch *s);
void formula_values(const formula *f, const double *row, const formula_scratch *s);

/* Columns of a design, once everything is known; `g`: the group term that it belongs to, or NULL. */
sbps_status design_columns(formula *f, formula_design *d, const formula_group *g,
                           sbps_error *err);
/* Entries that are not 0, increasing, the intercept's not among them; returns how many. */
size_t design_row(const formula *f, const formula_design *d, const formula_scratch *s,
                  uint32_t *column, double *value);

/* A number that is calculated beside the design, of a row. */
double formula_number(const formula *f, const program *g, const double *row);
/* Sum of all offset() of a row. */
double formula_offset(const formula *f, const double *row);
/* Of the formula: the column that a node names; SIZE_MAX: none, it is calculated. */
size_t formula_column_of(const formula *f, const node *n);

#endif
