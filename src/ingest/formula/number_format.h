/* Numbers as R prints them. */
#ifndef INGEST_NUMBER_FORMAT_H
#define INGEST_NUMBER_FORMAT_H

typedef struct {
    char text[40];
} number_shown;

/* Returns a number with the fewest significant digits, at most `digits`, that represent it to
 * `digits` digits; with an exponent where that is shorter. */
number_shown number_as_written(double value, int digits);
/* Returns a number as the name of a level: with 15 digits, or, for a whole number below 1e18
 * that those do not represent, with all its digits. */
number_shown number_as_level(double value);

#endif
