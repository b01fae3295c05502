#include "output/contrast/expression.h"

#include <stdlib.h>

double expression_value(const expression *e, const double *w, double *stack)
{
    double *top = stack; /* the first free place */
    for (size_t i = 0; i < e->steps; i++) {
        const expression_step *s = &e->step[i];
        switch (s->kind) {
        case STEP_NUMBER:
            *top++ = s->number;
            break;
        case STEP_PARAMETER:
            *top++ = w[s->parameter];
            break;
        case STEP_ONE:
            top[-1] = s->one(top[-1]);
            break;
        case STEP_TWO:
            top[-2] = s->two(top[-2], top[-1]);
            top--;
            break;
        }
    }
    return stack[0];
}

void expression_free(expression *e)
{
    free(e->step);
    *e = (expression){0};
}
