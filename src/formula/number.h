/* Numbers as R shows them. */
#ifndef FORMULA_NUMBER_H
#define FORMULA_NUMBER_H

typedef struct {
    char text[40];
} number_shown;

/* The fewest significant digits, at most `digits`, that give the number to `digits`; with an exponent where
 * that is shorter. */
number_shown number_as_written(double value, int digits);

#endif
