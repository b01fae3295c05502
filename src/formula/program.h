/* Arithmetic on the numbers of a row. */
#ifndef FORMULA_PROGRAM_H
#define FORMULA_PROGRAM_H

#include "formula/tree.h"

typedef enum {
    DO_NUMBER,
    DO_COLUMN,
    DO_FUNCTION,
    DO_NEGATE,
    DO_ADD,
    DO_SUBTRACT,
    DO_MULTIPLY,
    DO_DIVIDE,
    DO_POWER
} step_kind;

typedef struct {
    step_kind kind;
    double number;
    size_t column; /* of the formula */
    double (*function)(double);
} program_step;

/* Steps that take their operands from a stack and leave their result there. */
typedef struct {
    program_step *step;
    size_t steps;
} program;

/* Which of the formula's columns a name is; fails with a sentence for one that holds no numbers. */
typedef struct {
    sbps_status (*find)(void *self, const node *name, size_t *column, sbps_error *err);
    void *self;
    const char *text; /* of the formula */
} name_finder;

sbps_status program_compile(const node *n, const name_finder *names, pool *p, program *out,
                            sbps_error *err);
/* `slot` says where in the row each column of the formula lies. */
double program_run(const program *g, const double *row, const size_t *slot);
/* A column as it is; SIZE_MAX: no such program. */
size_t program_column(const program *g);
/* Whether a function of one number has this name. */
bool is_function(const char *name);

#endif
