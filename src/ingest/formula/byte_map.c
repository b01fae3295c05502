/* Open addressing; FNV-1a, mixed once more, because the low bits choose the slot. */
#include "ingest/formula/byte_map.h"

#include <string.h>

static uint64_t hash_of(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

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
