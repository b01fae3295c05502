/* An expression of parameters: text to steps, and steps to a number for each draw.
 *
 *   comparison   < <= > >= == !=     1 where it holds, else 0; once
 *   sum          + -
 *   product      * /
 *   sign         + - before an operand
 *   power        ^, to the right
 *   operand      a number, a parameter, a function's call, (expression) */
#ifndef OUTPUT_EXPRESSION_H
#define OUTPUT_EXPRESSION_H

#include "core/status.h"

typedef enum { STEP_NUMBER, STEP_PARAMETER, STEP_ONE, STEP_TWO } expression_step_kind;

/* Takes its operands from a stack and leaves its result there. */
typedef struct {
    expression_step_kind kind;
    double number;
    size_t parameter;
    double (*one)(double x);
    double (*two)(double x, double y);
} expression_step;

typedef struct {
    expression_step *step;
    size_t steps, capacity;
    size_t deepest; /* numbers on the stack at once */
} expression;

/* Names are those of the parameters; nothing of them or of the text is kept. */
sbps_status expression_parse(const char *text, char *const *names, size_t count,
                             expression *out, sbps_error *err);
/* `stack` holds `deepest` numbers. */
double expression_value(const expression *e, const double *w, double *stack);
void expression_free(expression *e);

#endif
