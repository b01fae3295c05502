/* What an expression can do with numbers. */
#ifndef OUTPUT_OPERATORS_H
#define OUTPUT_OPERATORS_H

#include <stddef.h>

typedef enum { LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_POWER } operator_level;

typedef struct {
    const char *written;
    operator_level level;
    double (*two)(double x, double y);
} binary_operator;

/* The longest that begins at `at` and is of this level; NULL: none. */
const binary_operator *operator_at(const char *at, operator_level level);

double negative(double x);

typedef struct {
    const char *name;
    double (*one)(double x);           /* of one argument */
    double (*two)(double x, double y); /* of any number, from left to right */
} expression_function;

/* `length` bytes of a name; NULL: there is no such function. */
const expression_function *function_named(const char *name, size_t length);
/* Their names, for suggestions. */
extern const char *const function_names[];
extern const size_t function_count;

#endif
