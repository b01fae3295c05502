/* Numbers as decimal text: reading and printing with a decimal point in any locale, fast
 * printing of ten digits, and a canonical form that is the same for 1.50 and 15e-1. */
#ifndef CORE_DECIMAL_H
#define CORE_DECIMAL_H

#include "core/status.h"

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* strtod in the C locale. */
double decimal_read(const char *text, char **end);
/* snprintf and vsnprintf in the C locale. */
int decimal_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int decimal_print_list(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

/* Writes `value` as %.10g does, without the terminating zero. Returns the length, which is
 * below TEN_DIGITS_SIZE. */
#define TEN_DIGITS_SIZE 40
size_t ten_digits(char *text, double value);

#define DECIMAL_FORM_EXTRA ((size_t)24) /* bytes by which the form may exceed the text */

/* Writes the canonical form of a decimal number to `out`: the sign, the digits without zeros at
 * either end, and the power of ten of the last digit. -1.50 becomes "-15E-1". Any number of
 * digits is kept exactly. Returns false if the text is no number, if it has leading zeros, as
 * in 007 (an identifier), or if `size` is less than length + DECIMAL_FORM_EXTRA. */
bool decimal_form(const char *begin, size_t length, size_t size, char *out);

/* Between numbers_begin and numbers_end this thread prints every number in the C locale: for
 * output through FILE streams. */
typedef struct {
    locale_t plain, before;
} number_locale;

sbps_status numbers_begin(number_locale *locale, sbps_error *err);
void numbers_end(number_locale *locale);

/* Writes a number with 17 digits, from which the same double can be read back; NaN, Inf and
 * -Inf as R and pandas spell them. Write errors stay in the stream (ferror). */
void put_number(FILE *stream, double value);

/* ---- numbers as R prints them ---- */

typedef struct {
    char text[40];
} number_shown;

/* Returns a number with the fewest significant digits, at most `digits_max`, that represent it to
 * `digits_max` digits; with an exponent where that is shorter. */
number_shown number_as_written(double value, int digits_max);
/* Returns a number as the name of a level: with 15 digits, or, for a whole number below 1e18
 * that those do not represent, with all its digits. */
number_shown number_as_level(double value);

#endif
