/* Memory and look-up tables of a formula. Everything that a formula consists of is allocated in
 * its pool and freed at once, with the formula. */
#ifndef INGEST_POOL_H
#define INGEST_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pool_block pool_block;

typedef struct {
    pool_block *last;
} pool;

/* Return zeroed memory of the pool; NULL: no memory, or a size beyond size_t. */
void *pool_take(pool *p, size_t bytes);
void *pool_array(pool *p, size_t count, size_t size);
/* Returns a copy of `length` bytes with a final NUL; NULL: no memory. */
char *pool_text(pool *p, const char *begin, size_t length);
/* Frees all memory of the pool. */
void pool_clear(pool *p);

/* ---- a map from byte strings (names, sets of variables) to indices ---- */

typedef struct {
    const void *bytes; /* borrowed; NULL: the slot is free */
    size_t length, index;
    uint64_t hash;
} byte_key;

typedef struct {
    byte_key *slot; /* slots: a power of two, or 0 */
    size_t slots, count;
} byte_map;

#define NOT_THERE SIZE_MAX

/* Returns the index stored for the bytes; NOT_THERE: none. */
size_t byte_map_find(const byte_map *m, const void *bytes, size_t length);
/* Stores the index of bytes that are not in the map yet, and stay where they are; false: no
 * memory. */
bool byte_map_add(byte_map *m, pool *p, const void *bytes, size_t length, size_t index);

#endif
