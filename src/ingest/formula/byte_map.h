/* Indices of what is spelled by bytes: names, and sets of variables. */
#ifndef INGEST_BYTE_MAP_H
#define INGEST_BYTE_MAP_H

#include "ingest/formula/pool.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const void *bytes; /* borrowed; NULL: free */
    size_t length, index;
    uint64_t hash;
} byte_key;

typedef struct {
    byte_key *slot; /* a power of two of them */
    size_t slots, count;
} byte_map;

#define NOT_THERE SIZE_MAX

size_t byte_map_find(const byte_map *m, const void *bytes, size_t length);
/* What is not there yet; false: no memory. */
bool byte_map_add(byte_map *m, pool *p, const void *bytes, size_t length, size_t index);

#endif
