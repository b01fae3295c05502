/* Blocks that are carved from the front; one that is asked for more than it has is followed by another. */
#include "ingest/formula/pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)4096)

struct pool_block {
    pool_block *before;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

static pool_block *add_pool_block(pool *p, size_t bytes)
{
    size_t capacity = bytes > BLOCK ? bytes : BLOCK;
    pool_block *made = malloc(sizeof *made + capacity);
    if (!made) return NULL;
    made->before = p->last;
    made->used = 0;
    made->capacity = capacity;
    return p->last = made;
}

void *pool_take(pool *p, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + unit - 1) / unit * unit;
    pool_block *b = p->last;
    if (!b || b->capacity - b->used < bytes) b = add_pool_block(p, bytes);
    if (!b) return NULL;
    void *at = b->bytes + b->used;
    b->used += bytes;
    return memset(at, 0, bytes);
}

void *pool_array(pool *p, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size) return NULL;
    return pool_take(p, count * size);
}

char *pool_text(pool *p, const char *begin, size_t length)
{
    char *made = pool_take(p, length + 1);
    return made ? memcpy(made, begin, length) : NULL;
}

void pool_clear(pool *p)
{
    while (p->last) {
        pool_block *before = p->last->before;
        free(p->last);
        p->last = before;
    }
}
