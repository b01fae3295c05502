/* Numbers and names in the text files of this folder. Write errors stay in the stream (ferror).
 */
#ifndef STORE_TEXT_H
#define STORE_TEXT_H

#include "base/status.h"

#include <locale.h>
#include <stdio.h>

/* A host program may have set a locale whose decimal point is a comma; between begin and end
 * this thread writes numbers as C does. */
typedef struct {
    locale_t plain, before;
} number_locale;

sbps_status numbers_begin(number_locale *locale, sbps_error *err);
void numbers_end(number_locale *locale);

/* 17 digits, which give the same double back; NaN, Inf and -Inf as R and pandas spell them. */
void put_number(FILE *stream, double value);

#endif
