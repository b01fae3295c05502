/* The levels of a category: each distinct text gets a code in order of appearance. */
#ifndef INGEST_LEVELS_H
#define INGEST_LEVELS_H

#include "core/status.h"

typedef struct {
    char *text;
    size_t length;
    size_t rows; /* kept rows that hold it */
    size_t
        joined; /* 1 + the code of the level that it is one with, see level_numbers.h; 0: none */
} level;

typedef struct {
    level *item;
    size_t count, capacity;
    size_t
        numbers; /* a new text that is the same number as one of the first so many levels is that level */
    bool listed;  /* somebody gave them in their order, which is that of their codes */
    size_t *slot; /* open addressing: code + 1, 0 when free */
    size_t slots; /* a power of two */
} levels;

levels *levels_create(void); /* NULL: no memory */
/* The code of [begin, end), a new one when it is not known; false: no memory. */
bool levels_code(levels *l, const char *begin, const char *end, size_t *code);
/* Adds those of `from` in their order, with their rows; code[k] is what k of `from` is called here. False:
 * no memory. */
bool levels_merge(levels *l, const levels *from, size_t *code);
void levels_reset(levels *l);
/* Codes of the levels that occur in kept rows, in order: as they were listed, else by value when all are numbers, else
 * naturally (digits by value: a2 before a10). `order` has room for l->count;
 * `*used` of it are filled. */
sbps_status levels_order(const levels *l, size_t *order, size_t *used, sbps_error *err);
void levels_destroy(levels *l);

#endif
