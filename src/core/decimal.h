/* Numbers as text with a decimal point, whatever locale the host program has set. */
#ifndef CORE_DECIMAL_H
#define CORE_DECIMAL_H

#include "core/status.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

/* As strtod. */
double decimal_read(const char *text, char **end);
/* As snprintf and vsnprintf. */
int decimal_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int decimal_print_list(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

/* Writes a number as %.10g does, without a zero at the end; returns its length, below TEN_DIGITS_SIZE. */
#define TEN_DIGITS_SIZE 40
size_t ten_digits(char *text, double value);

/* Between begin and end this thread prints all numbers so: for what is printed to streams. */
typedef struct {
    locale_t plain, before;
} number_locale;

sbps_status numbers_begin(number_locale *locale, sbps_error *err);
void numbers_end(number_locale *locale);

/* 17 digits, which give the same double back; NaN, Inf and -Inf as R and pandas spell them. Errors stay in
 * the stream (ferror). */
void put_number(FILE *stream, double value);

#endif
