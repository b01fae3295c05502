/* A 64-bit hash of a table, to tell whether a checkpoint belongs to it. Words go round-robin
 * through four lanes, each h <- rotate((h ^ word) K, 29); the lanes are folded the same way.
 * Fast and well mixed; no defence against an adversary.
 *
 * Dense rows of more than one piece are hashed piece by piece: the sum of the pieces' hashes, each mixed with
 * its number, does not ask who was first. */
#include "data/hash.h"

#include "data/groups.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h << 29 | h >> 35;
}

hash_stream hash_open(uint64_t seed, size_t size)
{
    return (hash_stream){{seed, seed + 1, seed + 2, seed + 3}, mix(seed, size)};
}

void hash_more(hash_stream *s, const void *bytes, size_t size)
{
    const unsigned char *p = bytes, *end = p + size;
    hash_stream now = *s; /* in registers */
    for (; p < end; p += sizeof now.lane) {
        uint64_t words[HASH_LANES];
        memcpy(words, p, sizeof words);
        for (size_t k = 0; k < HASH_LANES; k++) now.lane[k] = mix(now.lane[k], words[k]);
    }
    *s = now;
}

uint64_t hash_close(hash_stream *s, const void *bytes, size_t size)
{
    size_t rest = size % sizeof s->lane;
    uint64_t words[HASH_LANES] = {0}, h = s->end;
    hash_more(s, bytes, size - rest);
    if (rest > 0) memcpy(words, (const unsigned char *)bytes + (size - rest), rest);
    for (size_t k = 0; k < HASH_LANES; k++) h = mix(h, mix(s->lane[k], words[k]));
    return h ^ h >> 32;
}

static uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    hash_stream s = hash_open(seed, size);
    return hash_close(&s, bytes, size);
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

const unsigned char *hash_rows(const rows *r, size_t *bytes)
{
    *bytes = rows_stride_bytes(r);
    return r->x ? (const unsigned char *)r->x : (const unsigned char *)r->x_float;
}

uint64_t hash_seed(const rows *r)
{
    const uint64_t shape[] = {r->n, r->d, r->stride, r->intercept};
    uint64_t h = hash_bytes(0, shape, sizeof shape);
    h = hash_bytes(h, r->storage->name, strlen(r->storage->name));
    return r->x || r->place ? h : mix(h, 1);
}

uint64_t hash_join(uint64_t others, uint64_t piece, size_t index, size_t count)
{
    return count == 1 ? piece : others + mix(piece, index);
}

static uint64_t hash_texts(uint64_t h, char *const *texts, size_t count)
{
    for (size_t k = 0; k < count; k++) h = hash_bytes(h, texts[k], strlen(texts[k]));
    return h;
}

static uint64_t hash_groups(uint64_t h, const row_groups *g, size_t n)
{
    for (size_t k = 0; k < g->factors; k++) {
        const group_factor *f = &g->factor[k];
        h = hash_bytes(h, f->name, strlen(f->name));
        h = hash_texts(h, f->level, f->levels);
        h = hash_bytes(h, f->of, n * sizeof *f->of);
    }
    for (size_t k = 0; k < g->terms; k++) {
        const group_term *t = &g->term[k];
        h = mix(mix(h, t->factor), t->correlated);
        h = hash_texts(h, t->names, t->count);
        h = hash_bytes(h, t->column, t->count * sizeof *t->column);
    }
    h = hash_doubles(h, g->z, n * g->width);
    return hash_bytes(h, g->start, (g->count + 1) * sizeof *g->start);
}

uint64_t hash_table(const rows *r, uint64_t pieces)
{
    uint64_t h = r->start ? hash_entries(hash_seed(r), r) : pieces;
    h = hash_doubles(h, r->y, r->n);
    h = hash_doubles(h, r->weight, r->n);
    h = hash_doubles(h, r->offset, r->n);
    h = hash_doubles(h, r->mean, r->d);
    h = hash_doubles(h, r->sd, r->d);
    for (size_t j = 0; j < r->d; j++) h = hash_bytes(h, r->names[j], strlen(r->names[j]));
    if (r->groups) h = hash_groups(h, r->groups, r->n);
    return hash_bytes(h, r->target, strlen(r->target));
}

uint64_t rows_hash(const rows *r)
{
    size_t bytes, count = (r->n + HASH_ROWS - 1) / HASH_ROWS;
    const unsigned char *x = hash_rows(r, &bytes);
    uint64_t all = 0, seed = hash_seed(r);
    for (size_t k = 0; !r->start && k < count; k++) {
        size_t first = k * HASH_ROWS, n = r->n - first < HASH_ROWS ? r->n - first : HASH_ROWS;
        all = hash_join(all, hash_bytes(seed, x + first * bytes, n * bytes), k, count);
    }
    return hash_table(r, all);
}
