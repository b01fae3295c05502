/* Sentences that point at a place of a text the user wrote. */
#ifndef CORE_CARET_H
#define CORE_CARET_H

#include "core/status.h"

#include <stdarg.h>

/* SBPS_BAD_ARG about the byte `at` of `text`: what it is, the column, the sentence, the text with a caret below. */
sbps_status fail_pointing(sbps_error *err, const char *what, const char *text, size_t at,
                          const char *format, va_list values)
    __attribute__((format(printf, 5, 0)));

#endif
