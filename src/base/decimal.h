/* Numbers as text with a decimal point, whatever locale the host program has set. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdarg.h>
#include <stddef.h>

/* As strtod. */
double decimal_read(const char *text, char **end);
/* As snprintf and vsnprintf. */
int decimal_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int decimal_print_list(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

#endif
