/* Numbers as R shows them. */
#ifndef INGEST_NUMBER_FORMAT_H
#define INGEST_NUMBER_FORMAT_H

typedef struct {
    char text[40];
} number_shown;

/* The fewest significant digits, at most `digits`, that give the number to `digits`; with an exponent where
 * that is shorter. */
number_shown number_as_written(double value, int digits);
/* As a level: 15 digits; a whole number that those do not give back, with all of its digits. */
number_shown number_as_level(double value);

#endif
