/* Levels of a category: each distinct text gets a code 0, 1, 2, ... in order of appearance. */
#ifndef INGEST_LEVELS_H
#define INGEST_LEVELS_H

#include "core/status.h"
#include <locale.h>

typedef struct {
    char *text;
    size_t length; /* bytes */
    size_t rows;   /* kept rows with this level */
    size_t joined; /* 1 + the code of an equal number (levels_join_numbers); 0: none */
} level;

/* The levels of one column. */
typedef struct {
    level *item; /* by code */
    size_t count, capacity;
    size_t known; /* new texts are compared with other spellings of the first `known` levels */
    bool listed;  /* the caller gave the levels in their order, which is that of the codes */
    size_t *slot; /* hash table: code + 1, 0 when free */
    size_t slots; /* a power of two */
} levels;

/* Returns an empty set; NULL: no memory. */
levels *levels_create(void);
/* Finds the code of [begin, end) and adds the text if it is new. Returns false without
 * memory. */
bool levels_code(levels *l, const char *begin, const char *end, size_t *code);
/* Adds the levels of `from` in their order, with their row counts; code[k] is the code here of
 * level k of `from`. Returns false without memory. */
bool levels_merge(levels *l, const levels *from, size_t *code);
/* Removes all levels and keeps the memory. */
void levels_reset(levels *l);
/* Sorts the codes of levels that occur in kept rows: as listed, else by value when all are
 * numbers, else in natural order (a2 before a10). Writes *used codes to `order`, which has
 * l->count elements. */
sbps_status levels_order(const levels *l, size_t *order, size_t *used, sbps_error *err);
/* Frees the levels; NULL is fine. */
void levels_destroy(levels *l);

/* ---- levels of a column of numbers: different spellings of one number are one level ---- */

/* Returns whether two texts are the same decimal number of any length, as 1e5 and 100000.0.
 * Texts with a leading zero, such as 007, are identifiers and not numbers. */
bool same_decimal(const char *a, const char *b);
/* If all levels with rows are numbers, joins those that are equal: one level gets all rows and
 * R's name of the number, the others get no rows and their `joined` refers to it. */
sbps_status levels_join_numbers(levels *l, locale_t c_locale, sbps_error *err);
/* Copies the rank of each level to the levels joined with it. */
void levels_rank_joined(const levels *l, size_t *rank);

enum { LEVEL_NAMES = 3, LEVEL_NAME = 40 };

/* Writes other spellings of a level that is a number: R's, the number in full, and what version
 * 0.1.0 wrote for whole numbers of more than 15 digits. Returns how many. */
size_t level_names(const char *spelling, locale_t c_locale, char name[LEVEL_NAMES][LEVEL_NAME]);

#endif
