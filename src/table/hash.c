/* A 64-bit hash of a table, by which a checkpoint recognises it. Words go round-robin through
 * four lanes, each h <- rotate((h ^ word) K, 29); the lanes are folded in the same way. Fast
 * and well mixed; no defence against an adversary.
 *
 * Dense rows of more than one piece are hashed piece by piece: the hash of x is the sum of the
 * pieces' hashes, each mixed with its number, and so does not depend on the order in which
 * threads finish. */
#include "table/hash.h"

#include "core/ranks/ranks.h"
#include "table/row_groups.h"

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
    hash_stream now = *s; /* a local copy stays in registers */
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

/* ---- over ranks ---- */

typedef struct {
    hash_stream stream;
    unsigned char rest[HASH_LANES * sizeof(uint64_t)]; /* bytes that do not fill all lanes */
    uint64_t held;                                     /* number of those bytes */
} hash_relay;

/* Adds bytes that need not fill whole lanes. */
static void relay_add(hash_relay *c, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    size_t space = sizeof c->rest - c->held, first = size < space ? size : space;
    if (size == 0) return;
    memcpy(c->rest + c->held, from, first);
    c->held += first;
    if (c->held < sizeof c->rest) return;
    hash_more(&c->stream, c->rest, sizeof c->rest);
    size_t whole = (size - first) / sizeof c->rest * sizeof c->rest;
    hash_more(&c->stream, from + first, whole);
    c->held = size - first - whole;
    memcpy(c->rest, from + first + whole, c->held);
}

/* Continues with the hash of the rank before. */
static void relay_receive(ranks *among, hash_relay *c)
{
    if (ranks_rank(among) > 0) ranks_receive(among, among->rank - 1, c, sizeof *c);
}

/* Sends the hash to the next rank; returns the last rank's on all of them. */
static uint64_t relay_finish(ranks *among, hash_relay *c)
{
    if (!among) return hash_close(&c->stream, c->rest, c->held);
    if (among->rank + 1 < among->size) ranks_send(among, among->rank + 1, c, sizeof *c);
    uint64_t h = hash_close(&c->stream, c->rest, c->held);
    ranks_broadcast(among, among->size - 1, &h, sizeof h);
    return h;
}

uint64_t hash_over(ranks *among, uint64_t seed, const void *bytes, size_t size, size_t whole)
{
    hash_relay c = {.stream = hash_open(seed, whole)};
    relay_receive(among, &c);
    relay_add(&c, bytes, size);
    return relay_finish(among, &c);
}

static ranks *ranks_with(const rows *r)
{
    return r->partition ? r->partition->among : NULL;
}

/* Hash of one number per row, over all ranks. */
static uint64_t hash_column(uint64_t h, const rows *r, const double *x)
{
    if (!x) return mix(h, 1);
    return hash_over(ranks_with(r), h, x, r->local_rows * sizeof *x, total_rows(r) * sizeof *x);
}

/* ---- sparse rows ---- */

/* Hash of the starts of rows, counted as if one process had the entries of all ranks; `before`
 * is the number of entries on the ranks before. */
static uint64_t hash_starts(uint64_t h, const rows *r, uint64_t before)
{
    ranks *among = ranks_with(r);
    size_t last = ranks_rank(among) + 1 == ranks_size(among);
    if (!among)
        return hash_bytes(h, r->storage.start, (r->local_rows + 1) * sizeof *r->storage.start);
    hash_relay c = {.stream = hash_open(h, (total_rows(r) + 1) * sizeof *r->storage.start)};
    relay_receive(among, &c);
    for (size_t i = 0; i < r->local_rows + last; i++) {
        uint64_t start = r->storage.start[i] + before;
        relay_add(&c, &start, sizeof start);
    }
    return relay_finish(among, &c);
}

/* Hash of the starts, columns and values of sparse rows, over all ranks. */
static uint64_t hash_entries(uint64_t h, const rows *r)
{
    ranks *among = ranks_with(r);
    size_t entries = r->storage.start[r->local_rows], before = 0, all = entries;
    for (size_t i = 0; among && i < among->size; i++) {
        size_t theirs = entries;
        ranks_broadcast(among, i, &theirs, sizeof theirs);
        before += i < among->rank ? theirs : 0;
        all += i == among->rank ? 0 : theirs;
    }
    h = hash_starts(h, r, before);
    h = hash_over(among, h, r->storage.column, entries * sizeof *r->storage.column,
                  all * sizeof *r->storage.column);
    if (!r->storage.value) return mix(h, 1);
    return hash_over(among, h, r->storage.value, entries * sizeof *r->storage.value,
                     all * sizeof *r->storage.value);
}

const unsigned char *hash_rows(const rows *r, size_t *bytes)
{
    *bytes = rows_stride_bytes(r);
    return r->storage.x ? (const unsigned char *)r->storage.x
                        : (const unsigned char *)r->storage.x_float;
}

uint64_t hash_seed(const rows *r)
{
    const uint64_t shape[] = {total_rows(r), r->d, r->stride, r->intercept};
    uint64_t h = hash_bytes(0, shape, sizeof shape);
    h = hash_bytes(h, r->storage.kind->name, strlen(r->storage.kind->name));
    return r->storage.x || r->storage.place ? h : mix(h, 1);
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
    uint64_t h = r->storage.start ? hash_entries(hash_seed(r), r) : pieces;
    h = hash_column(h, r, r->y);
    h = hash_column(h, r, r->weight);
    h = hash_column(h, r, r->offset);
    h = hash_doubles(h, r->table.mean, r->d);
    h = hash_doubles(h, r->table.sd, r->d);
    for (size_t j = 0; j < r->d; j++)
        h = hash_bytes(h, r->table.names[j], strlen(r->table.names[j]));
    if (r->groups) h = hash_groups(h, r->groups, r->local_rows);
    return hash_bytes(h, r->table.target, strlen(r->table.target));
}

uint64_t rows_hash(const rows *r)
{
    size_t bytes, count = (r->local_rows + HASH_ROWS - 1) / HASH_ROWS;
    const unsigned char *x = hash_rows(r, &bytes);
    uint64_t all = 0, seed = hash_seed(r);
    for (size_t k = 0; !r->storage.start && k < count; k++) {
        size_t first = k * HASH_ROWS,
               n = r->local_rows - first < HASH_ROWS ? r->local_rows - first : HASH_ROWS;
        all = hash_join(all, hash_bytes(seed, x + first * bytes, n * bytes), k, count);
    }
    return hash_table(r, all);
}
