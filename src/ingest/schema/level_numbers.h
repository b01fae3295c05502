/* Levels of a column of numbers: cells that are the same number, however they are written, are one level. */
#ifndef INGEST_LEVEL_NUMBERS_H
#define INGEST_LEVEL_NUMBERS_H

#include "ingest/schema/levels.h"
#include <locale.h>

/* Whether both texts are the same decimal number, of any length: 1e5 and 100000.0. Digits behind a leading zero, as in
 * 007, are no number but an identifier. */
bool same_decimal(const char *a, const char *b);
/* Where all levels that rows have are numbers, those that are the same number join: one of them has all their rows, and
 * R's name for the number; the others have none, and `joined` tells which it is. */
sbps_status levels_join_numbers(levels *l, locale_t c_locale, sbps_error *err);
/* Other names that the level of this text may have: as R writes the number, in full, and as version 0.1.0 wrote whole
 * numbers of more than 15 digits. Returns how many. */
enum { LEVEL_NAMES = 3, LEVEL_NAME = 40 };
size_t level_names(const char *text, locale_t c_locale, char name[LEVEL_NAMES][LEVEL_NAME]);
/* Levels that joined another get its rank. */
void levels_rank_joined(const levels *l, size_t *rank);

#endif
