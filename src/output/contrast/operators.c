/* NaN in, NaN out, for min and max as well: who asks must hear that a draw gave no number. */
#include "output/contrast/operators.h"

#include <math.h>
#include <string.h>

static double add(double x, double y)
{
    return x + y;
}

static double subtract(double x, double y)
{
    return x - y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double divide(double x, double y)
{
    return x / y;
}

static double truth(int holds, double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : holds ? 1.0 : 0.0;
}

static double is_less(double x, double y)
{
    return truth(x < y, x, y);
}

static double is_at_most(double x, double y)
{
    return truth(x <= y, x, y);
}

static double is_greater(double x, double y)
{
    return truth(x > y, x, y);
}

static double is_at_least(double x, double y)
{
    return truth(x >= y, x, y);
}

static double is_equal(double x, double y)
{
    return truth(x == y, x, y);
}

static double is_other(double x, double y)
{
    return truth(x != y, x, y);
}

static double least(double x, double y)
{
    return isnan(x) || x < y ? x : y;
}

static double most(double x, double y)
{
    return isnan(x) || x > y ? x : y;
}

static double inv_logit(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double logit(double x)
{
    return log(x / (1.0 - x));
}

double negative(double x)
{
    return -x;
}

/* Those that begin with another come before it. */
static const binary_operator operators[] = {
    {"<=", LEVEL_COMPARISON, is_at_most},
    {">=", LEVEL_COMPARISON, is_at_least},
    {"==", LEVEL_COMPARISON, is_equal},
    {"!=", LEVEL_COMPARISON, is_other},
    {"<", LEVEL_COMPARISON, is_less},
    {">", LEVEL_COMPARISON, is_greater},
    {"+", LEVEL_SUM, add},
    {"-", LEVEL_SUM, subtract},
    {"*", LEVEL_PRODUCT, multiply},
    {"/", LEVEL_PRODUCT, divide},
    {"^", LEVEL_POWER, pow},
};

const binary_operator *operator_at(const char *at, operator_level level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(at, operators[i].written, strlen(operators[i].written)))
            return operators[i].level == level ? &operators[i] : NULL;
    return NULL;
}

#define FUNCTIONS(X)                                                                           \
    X("exp", exp, NULL)                                                                        \
    X("log", log, NULL)                                                                        \
    X("sqrt", sqrt, NULL)                                                                      \
    X("abs", fabs, NULL)                                                                       \
    X("logit", logit, NULL)                                                                    \
    X("inv_logit", inv_logit, NULL)                                                            \
    X("min", NULL, least)                                                                      \
    X("max", NULL, most)

static const expression_function functions[] = {
#define FUNCTION(name, one, two) {name, one, two},
    FUNCTIONS(FUNCTION)
#undef FUNCTION
};

const char *const function_names[] = {
#define FUNCTION_NAME(name, one, two) name,
    FUNCTIONS(FUNCTION_NAME)
#undef FUNCTION_NAME
};
const size_t function_count = sizeof functions / sizeof *functions;

const expression_function *function_named(const char *name, size_t length)
{
    for (size_t i = 0; i < function_count; i++)
        if (strlen(functions[i].name) == length && !strncmp(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}
