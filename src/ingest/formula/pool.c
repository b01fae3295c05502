/* The pool: blocks used from the front. When a block is full another one follows. The map: open
 * addressing; FNV-1a, mixed once more because its low bits choose the slot. */
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

/* ---- map ---- */

static uint64_t hash_of(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* Returns the slot that has the bytes, or the free one where they belong. */
static byte_key *slot_of(const byte_map *m, const void *bytes, size_t length, uint64_t hash)
{
    for (size_t k = hash & (m->slots - 1);; k = (k + 1) & (m->slots - 1)) {
        byte_key *s = &m->slot[k];
        if (!s->bytes) return s;
        if (s->hash == hash && s->length == length && !memcmp(s->bytes, bytes, length))
            return s;
    }
}

size_t byte_map_find(const byte_map *m, const void *bytes, size_t length)
{
    if (m->slots == 0) return NOT_THERE;
    const byte_key *s = slot_of(m, bytes, length, hash_of(bytes, length));
    return s->bytes ? s->index : NOT_THERE;
}

/* Quadruples the slots; false: no memory. */
static bool more_slots(byte_map *m, pool *p)
{
    byte_map wide = {.slots = m->slots ? 4 * m->slots : 16, .count = m->count};
    wide.slot = pool_array(p, wide.slots, sizeof *wide.slot);
    if (!wide.slot) return false;
    for (size_t k = 0; k < m->slots; k++) {
        const byte_key *s = &m->slot[k];
        if (s->bytes) *slot_of(&wide, s->bytes, s->length, s->hash) = *s;
    }
    *m = wide;
    return true;
}

bool byte_map_add(byte_map *m, pool *p, const void *bytes, size_t length, size_t index)
{
    if (2 * (m->count + 1) > m->slots && !more_slots(m, p)) return false;
    uint64_t hash = hash_of(bytes, length);
    *slot_of(m, bytes, length, hash) = (byte_key){bytes, length, index, hash};
    m->count++;
    return true;
}
