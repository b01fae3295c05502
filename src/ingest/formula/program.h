/* Arithmetic on the numbers of a row. */
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

/* Whether a row has this level of a category; it is 0 as long as levels are not ranked. */
typedef struct level_test {
    const node *level;         /* where the formula names it */
    size_t column;             /* of the formula */
    const size_t *const *rank; /* of the codes that rows hold */
    size_t target;             /* rank of the level, found when all are known */
    struct level_test *next;
} level_test;

typedef struct {
    step_kind kind;
    double number;
    size_t column; /* of the formula */
    double (*function)(double);
    const level_test *test;
} program_step;

/* Steps that take their operands from a stack and leave their result there. */
typedef struct {
    program_step *step;
    size_t steps;
} program;

/* Which of the formula's columns a name is; fails with a sentence for one that holds no numbers. */
typedef struct {
    sbps_status (*find)(void *self, const node *name, size_t *column, sbps_error *err);
    /* Optional: a test for a level of a category; NULL: levels are not known where it would be made. */
    sbps_status (*find_level)(void *self, const node *name, const node *level,
                              const level_test **out, sbps_error *err);
    void *self;
    const char *text; /* of the formula */
} name_finder;

sbps_status program_compile(const node *n, const name_finder *names, pool *p, program *out,
                            sbps_error *err);
/* `slot` says where in the row each column of the formula lies. */
double program_run(const program *g, const double *row, const size_t *slot);
/* A column as it is; SIZE_MAX: no such program. */
size_t program_column(const program *g);
/* The name that is compared with texts, as in a == "b" or a %in% c("b", "c"); NULL: no such node. */
const node *compared_with_text(const node *n);
/* Whether what it gives is TRUE or FALSE, as in I(x > 3). */
bool is_logical(const node *n);
/* Whether a function of one number has this name. */
bool is_function(const char *name);

#endif
