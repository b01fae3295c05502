/* Decimal text to the nearest double, the same bits as strtod in the C locale, without its
 * cost for the numbers tables are made of. */
#ifndef INGEST_NUMBER_H
#define INGEST_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads [+-]digits[.digits][e[+-]digits] at `text`, which must end with a byte that cannot
 * continue a number (a NUL will do). Returns where the number ends, NULL when there is none.
 * Overflow gives an infinity. `c_locale` is the C locale, for the numbers left to strtod_l. */
const char *number_read(const char *text, locale_t c_locale, double *out);

/* w / 10^k, rounded once; w > 0 and k <= 27. */
double number_divided(uint64_t w, int k);

/* Whether [begin, end) spells an infinity: inf or infinity in any case and sign. */
bool text_is_infinite(const char *begin, const char *end);

#endif
