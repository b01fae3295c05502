/* A set of indices, and the place of each among its members. */
#ifndef INGEST_INDEX_SET_H
#define INGEST_INDEX_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t *word; /* bit i % 64 of word i / 64: i is a member */
    size_t words;
    uint32_t *before; /* members in the words before each; made by index_set_seal */
    size_t count;
} index_set;

/* The largest index a set may hold: the largest int, as for libsvm itself. */
#define INDEX_MAX ((size_t)2147483647)

bool index_set_add(index_set *s, size_t index); /* false: no memory */
bool index_set_seal(index_set *s); /* nothing is added afterwards; false: no memory */
/* How many members are at most `index`, which is a member; 0 when it is not. */
size_t index_set_rank(const index_set *s, size_t index);
/* The least member that is at least `index`; 0 when there is none. */
size_t index_set_from(const index_set *s, size_t index);
void index_set_clear(index_set *s);

#endif
