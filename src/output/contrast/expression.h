/* Expressions of parameters: text is parsed into steps, and the steps give a number for each
 * draw. */
#ifndef OUTPUT_EXPRESSION_H
#define OUTPUT_EXPRESSION_H

#include "core/status.h"

typedef enum { STEP_NUMBER, STEP_PARAMETER, STEP_ONE, STEP_TWO } expression_step_kind;

/* One instruction of a stack machine: it replaces its operands at the top of the stack by its
 * result. */
typedef struct {
    expression_step_kind kind;
    double number;                     /* STEP_NUMBER */
    size_t parameter;                  /* STEP_PARAMETER: its index */
    double (*one)(double x);           /* STEP_ONE */
    double (*two)(double x, double y); /* STEP_TWO */
} expression_step;

typedef struct {
    expression_step *step; /* owned */
    size_t steps, capacity;
    size_t deepest; /* most numbers on the stack at once */
} expression;

/* Parses `text`, whose parameters are names[0..count). Nothing of `text` or `names` is kept.
 * SBPS_BAD_ARG with the position of a mistake; then *out needs no freeing. */
sbps_status expression_parse(const char *text, char *const *names, size_t count,
                             expression *out, sbps_error *err);

/* The value at the parameters w; `stack` has room for e->deepest numbers. */
double expression_value(const expression *e, const double *w, double *stack);

void expression_free(expression *e);

#endif
