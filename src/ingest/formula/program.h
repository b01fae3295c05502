/* Programs: compiled expressions that compute one number from the numbers of a row. */
#ifndef INGEST_PROGRAM_H
#define INGEST_PROGRAM_H

#include "ingest/formula/tree.h"

typedef enum {
    DO_NUMBER,
    DO_COLUMN,
    DO_FUNCTION,
    DO_NEGATE,
    DO_ADD,
    DO_SUBTRACT,
    DO_MULTIPLY,
    DO_DIVIDE,
    DO_POWER,
    DO_EQUAL,
    DO_UNEQUAL,
    DO_LESS,
    DO_LESS_EQUAL,
    DO_GREATER,
    DO_GREATER_EQUAL,
    DO_AND,
    DO_OR,
    DO_NOT,
    DO_LEVEL
} step_kind;

/* The test of whether a row has a level of a category, as in a == "b". It is false until the
 * levels have been ranked. */
typedef struct level_test {
    const node *level;         /* where the formula names it */
    size_t column;             /* of the formula */
    const size_t *const *rank; /* of the codes in the rows */
    size_t target;             /* rank of the level, set by formula_order */
    struct level_test *next;
} level_test;

typedef struct {
    step_kind kind;
    double number;
    size_t column; /* of the formula */
    double (*function)(double);
    const level_test *test;
} program_step;

/* Steps in postfix order: each takes its operands from a stack and pushes its result. */
typedef struct {
    program_step *step;
    size_t steps;
} program;

/* How names become columns of the formula. */
typedef struct {
    /* Finds the column of a name; fails with a message for one that holds no numbers. */
    sbps_status (*find)(void *self, const node *name, size_t *column, sbps_error *err);
    /* Optional: creates the test for a level of a category. NULL: where the program will run,
     * levels are not known. */
    sbps_status (*find_level)(void *self, const node *name, const node *level,
                              const level_test **out, sbps_error *err);
    void *self;
    const char *text; /* of the formula */
} name_finder;

/* Compiles the expression n; the steps are in the pool. */
sbps_status program_compile(const node *n, const name_finder *names, pool *p, program *out,
                            sbps_error *err);
/* Returns the program's value for a row; slot[c] is the place of the formula's column c in the
 * row. Of no steps: 0. */
double program_run(const program *g, const double *row, const size_t *slot);
/* Returns the column if the program is just that column; otherwise SIZE_MAX. */
size_t program_column(const program *g);
/* Returns the name that a condition compares with texts, as in a == "b" or a %in% c("b", "c");
 * NULL: it is no such condition. */
const node *compared_with_text(const node *n);
/* Returns whether the expression is TRUE or FALSE in each row, as I(x > 3). */
bool is_logical(const node *n);
/* Returns whether a function of one number has this name. */
bool is_function(const char *name);

#endif
