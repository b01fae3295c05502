/* A table in memory of few rows was permuted by Fisher-Yates. Of many, rows are dealt to piles at random, a word
 * giving four of them theirs, and each pile, which stays in cache, is permuted by Fisher-Yates (Rao 1961;
 * Sandelius 1962): uniform as well, and several can do it. Shares of rows and piles have streams of their own, so
 * that it does not matter who does what. It is done again to say where a row was.
 *
 * A converted table lies in the order of its rows' random keys (shuffle.c): one pass over the keys counts them by
 * their top bits, which tells the buckets of the rows sought; a second keeps the keys of those. */
#include "table/row_origin.h"

#include "core/rng.h"
#include "core/threads.h"
#include "table/shuffle_buckets.h"
#include <stdlib.h>

#define TOP_BITS 16
#define BUCKETS  ((size_t)1 << TOP_BITS)
#define AHEAD    ((size_t)32)

/* The places that the next few exchanges need, asked for before they are: memory is far. */
static void permute(uint64_t seed, size_t n, size_t *to)
{
    size_t other[AHEAD], i = n - 1;
    rng random = rng_stream(seed, 0, RNG_SHUFFLE);
    for (size_t k = 0; k < n; k++) to[k] = k;
    while (i > 0) {
        size_t count = i < AHEAD ? i : AHEAD;
        for (size_t k = 0; k < count; k++) {
            other[k] = rng_below(&random, i - k + 1);
            __builtin_prefetch(&to[other[k]], 1);
        }
        for (size_t k = 0; k < count; k++, i--) {
            size_t swap = to[i];
            to[i] = to[other[k]];
            to[other[k]] = swap;
        }
    }
}

typedef struct {
    uint64_t seed;
    size_t n, buckets; /* a power of two */
    uint16_t *bucket;  /* of each row */
    size_t *next;      /* of each share and pile: rows of it, then the place of the next one */
    size_t *begin;     /* of each pile */
    uint32_t *place; /* where the rows of each pile go within it, in the order of the source */
    size_t *list;    /* room for `longest` a thread */
    size_t longest;  /* pile */
    size_t *to;      /* where each row goes, or */
    uint32_t *from;  /* which row goes to each place; one of both */
} bucket_shuffle;

static void draw_buckets(void *self, unsigned worker, size_t chunk)
{
    const bucket_shuffle *d = self;
    rng random = chunk_stream(d->seed, chunk);
    size_t *count = d->next + chunk * d->buckets, end = chunk_begin(d->n, chunk + 1);
    uint64_t word = 0;
    (void)worker;
    for (size_t i = chunk_begin(d->n, chunk), k = 0; i < end;
         i++, k++, word >>= BUCKET_INDEX_BITS) {
        if (k % (64 / BUCKET_INDEX_BITS) == 0) word = rng_word(&random);
        d->bucket[i] = (uint16_t)(word & (d->buckets - 1));
        count[d->bucket[i]]++;
    }
}

/* Counts become places: of a pile those of the first share, then the second's, ... */
static void counts_to_places(const bucket_shuffle *d)
{
    size_t at = 0;
    for (size_t b = 0; b < d->buckets; b++) {
        d->begin[b] = at;
        for (size_t chunk = 0; chunk < SHUFFLE_CHUNKS; chunk++) {
            size_t *next = &d->next[chunk * d->buckets + b], count = *next;
            *next = at;
            at += count;
        }
    }
    d->begin[d->buckets] = at;
}

static void order_bucket(void *self, unsigned worker, size_t b)
{
    const bucket_shuffle *d = self;
    size_t begin = d->begin[b], count = d->begin[b + 1] - begin;
    size_t *list = d->list + worker * d->longest;
    permute_bucket(d->seed, b, count, list);
    for (size_t i = 0; i < count; i++) d->place[begin + i] = (uint32_t)list[i];
}

static void place_chunk(void *self, unsigned worker, size_t chunk)
{
    const bucket_shuffle *d = self;
    size_t *next = d->next + chunk * d->buckets, end = chunk_begin(d->n, chunk + 1);
    (void)worker;
    for (size_t i = chunk_begin(d->n, chunk); i < end; i++) {
        size_t bucket = d->bucket[i], at = d->begin[bucket] + d->place[next[bucket]++];
        if (d->to)
            d->to[i] = at;
        else
            d->from[at] = (uint32_t)i;
    }
}

/* Room to permute each pile in. */
static bool open_lists(bucket_shuffle *d, unsigned threads)
{
    for (size_t b = 0; b < d->buckets; b++)
        if (d->begin[b + 1] - d->begin[b] > d->longest)
            d->longest = d->begin[b + 1] - d->begin[b];
    d->list = malloc((threads > 0 ? threads : 1) * (d->longest + 1) * sizeof *d->list);
    return d->list;
}

static bool scatter_to_buckets(bucket_shuffle *d, unsigned threads)
{
    sbps_status status = workers_run(threads, SHUFFLE_CHUNKS, draw_buckets, d, NULL);
    counts_to_places(d);
    if (status != SBPS_OK || !open_lists(d, threads)) return false;
    status = workers_run(threads, d->buckets, order_bucket, d, NULL);
    if (status == SBPS_OK) status = workers_run(threads, SHUFFLE_CHUNKS, place_chunk, d, NULL);
    return status == SBPS_OK;
}

/* Into `to` or `from`. */
static bool permute_many(uint64_t seed, size_t n, size_t *to, uint32_t *from, unsigned threads)
{
    bucket_shuffle d = {
        .seed = seed, .n = n, .buckets = bucket_count(n), .to = to, .from = from};
    d.bucket = malloc(n * sizeof *d.bucket);
    d.next = calloc(SHUFFLE_CHUNKS * d.buckets, sizeof *d.next);
    d.begin = malloc((d.buckets + 1) * sizeof *d.begin);
    d.place = malloc(n * sizeof *d.place);
    bool done = d.bucket && d.next && d.begin && d.place && scatter_to_buckets(&d, threads);
    free(d.bucket);
    free(d.next);
    free(d.begin);
    free(d.place);
    free(d.list);
    return done;
}

size_t *shuffled_places(uint64_t seed, size_t n, unsigned threads)
{
    size_t *to = malloc(n * sizeof *to);
    if (!to) return NULL;
    if (n <= FEW) {
        permute(seed, n, to);
        return to;
    }
    if (permute_many(seed, n, to, NULL, threads)) return to;
    free(to);
    return NULL;
}

uint32_t *shuffled_sources(uint64_t seed, size_t n, unsigned threads)
{
    uint32_t *from = malloc(n * sizeof *from);
    size_t *to = from && n <= FEW ? shuffled_places(seed, n, 1) : NULL;
    for (size_t i = 0; to && i < n; i++) from[to[i]] = (uint32_t)i;
    bool done = from && (to || (n > FEW && permute_many(seed, n, NULL, from, threads)));
    free(to);
    if (done) return from;
    free(from);
    return NULL;
}

size_t *same_places(size_t n)
{
    size_t *to = malloc(n * sizeof *to);
    for (size_t i = 0; to && i < n; i++) to[i] = i;
    return to;
}

static sbps_status origin_in_memory(const rows *data, size_t place, size_t *origin,
                                    sbps_error *err)
{
    size_t *to = shuffled_places(data->table.seed, total_rows(data), 1);
    if (!to) return fail_memory(err);
    for (*origin = 0; to[*origin] != place;) ++*origin;
    free(to);
    return SBPS_OK;
}

typedef struct {
    uint64_t key;
    size_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* How many rows there are in each bucket. */
static size_t *count_buckets(const rows *data)
{
    size_t *count = calloc(BUCKETS + 1, sizeof *count);
    rng random = rng_stream(data->table.seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; count && i < total_rows(data); i++)
        count[rng_word(&random) >> (64 - TOP_BITS)]++;
    return count;
}

/* The buckets that hold some of the places, and their keys. */
typedef struct {
    size_t *begin; /* of each bucket and the end, among all places */
    size_t *from;  /* where its keys begin among those kept; SIZE_MAX: they are not wanted */
    keyed *keys;
    size_t kept;
} key_buckets;

static size_t bucket_of(const key_buckets *b, size_t place)
{
    size_t low = 0, high = BUCKETS;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->begin[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool find_buckets(const rows *data, size_t count, const size_t *place, key_buckets *b)
{
    size_t at = 0;
    b->begin = count_buckets(data);
    b->from = malloc(BUCKETS * sizeof *b->from);
    if (!b->begin || !b->from) return false;
    for (size_t k = 0; k <= BUCKETS; k++) {
        size_t rows_there = b->begin[k];
        b->begin[k] = at;
        at += rows_there;
    }
    for (size_t k = 0; k < BUCKETS; k++) b->from[k] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) b->from[bucket_of(b, place[i])] = 0;
    for (size_t k = 0; k < BUCKETS; k++) {
        if (b->from[k] == SIZE_MAX) continue;
        b->from[k] = b->kept;
        b->kept += b->begin[k + 1] - b->begin[k];
    }
    b->keys = malloc((b->kept + 1) * sizeof *b->keys);
    return b->keys;
}

/* Keys of these buckets, in their order. */
static void fill_buckets(const rows *data, key_buckets *b)
{
    rng random = rng_stream(data->table.seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; i < total_rows(data); i++) {
        uint64_t key = rng_word(&random);
        size_t *to = &b->from[key >> (64 - TOP_BITS)];
        if (*to != SIZE_MAX) b->keys[(*to)++] = (keyed){key, i};
    }
    for (size_t k = 0; k < BUCKETS; k++) {
        if (b->from[k] == SIZE_MAX) continue;
        size_t held = b->begin[k + 1] - b->begin[k];
        b->from[k] -= held;
        qsort(b->keys + b->from[k], held, sizeof *b->keys, by_key);
    }
}

sbps_status rows_origins(const rows *data, size_t count, size_t *place, sbps_error *err)
{
    key_buckets b = {0};
    bool ready = find_buckets(data, count, place, &b);
    if (ready) fill_buckets(data, &b);
    for (size_t i = 0; ready && i < count; i++) {
        size_t bucket = bucket_of(&b, place[i]);
        place[i] = b.keys[b.from[bucket] + place[i] - b.begin[bucket]].row;
    }
    free(b.begin);
    free(b.from);
    free(b.keys);
    return ready ? SBPS_OK : fail_memory(err);
}

sbps_status rows_origin(const rows *data, size_t place, size_t *origin, sbps_error *err)
{
    *origin = place;
    if (data->table.in_order) return SBPS_OK;
    if (!data->storage.mapped) return origin_in_memory(data, place, origin, err);
    return rows_origins(data, 1, origin, err);
}
