/* A 64-bit hash of a table, to tell whether a checkpoint belongs to it. Words go round-robin
 * through four lanes, each h <- rotate((h ^ word) K, 29); the lanes are folded the same way.
 * Fast and well mixed; no defence against an adversary. */
#include "data/rows.h"

#include <string.h>

enum { LANES = 4 };

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h << 29 | h >> 35;
}

static uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    uint64_t lane[LANES] = {seed, seed + 1, seed + 2, seed + 3}, words[LANES];
    const unsigned char *p = bytes;
    uint64_t h = mix(seed, size);
    for (; size >= sizeof words; size -= sizeof words, p += sizeof words) {
        memcpy(words, p, sizeof words);
        for (size_t k = 0; k < LANES; k++) lane[k] = mix(lane[k], words[k]);
    }
    memset(words, 0, sizeof words);
    if (size > 0) memcpy(words, p, size);
    for (size_t k = 0; k < LANES; k++) h = mix(h, mix(lane[k], words[k]));
    return h ^ h >> 32;
}

static uint64_t hash_doubles(uint64_t h, const double *x, size_t count)
{
    return x ? hash_bytes(h, x, count * sizeof *x) : mix(h, 1);
}

static uint64_t hash_entries(uint64_t h, const rows *r)
{
    size_t entries = r->start[r->n];
    h = hash_bytes(h, r->start, (r->n + 1) * sizeof *r->start);
    h = hash_bytes(h, r->column, entries * sizeof *r->column);
    return hash_doubles(h, r->value, entries);
}

uint64_t rows_hash(const rows *r)
{
    const uint64_t shape[] = {r->n, r->d, r->stride, r->intercept};
    uint64_t h = hash_bytes(0, shape, sizeof shape);
    h = hash_bytes(h, r->storage->name, strlen(r->storage->name));
    h = hash_doubles(h, r->x, r->n * r->stride);
    if (r->x_float) h = hash_bytes(h, r->x_float, r->n * r->stride * sizeof *r->x_float);
    if (r->start) h = hash_entries(h, r);
    h = hash_doubles(h, r->y, r->n);
    h = hash_doubles(h, r->weight, r->n);
    h = hash_doubles(h, r->offset, r->n);
    h = hash_doubles(h, r->mean, r->d);
    h = hash_doubles(h, r->sd, r->d);
    for (size_t j = 0; j < r->d; j++) h = hash_bytes(h, r->names[j], strlen(r->names[j]));
    return hash_bytes(h, r->target, strlen(r->target));
}
