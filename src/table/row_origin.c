/* In memory: few rows are permuted by Fisher-Yates. Many rows are assigned to buckets at
 * random, four rows per random word, and each bucket, which stays in cache, is permuted by
 * Fisher-Yates (Rao 1961; Sandelius 1962). This is uniform as well, and several threads can do
 * it: chunks of rows and buckets have random streams of their own, so that the result does not
 * depend on the threads. The permutation is not stored but computed again to find where a row
 * came from.
 *
 * A converted table is in the order of its rows' random keys (shuffle.c). One pass over the
 * keys counts them by their top bits, which gives the buckets of the requested rows; a second
 * pass collects the keys of those buckets. */
#include "table/row_origin.h"

#include "core/rng.h"
#include "core/threads.h"
#include <stdlib.h>

#define TOP_BITS 16
#define BUCKETS  ((size_t)1 << TOP_BITS)
#define AHEAD    ((size_t)32)

/* Fisher-Yates. The places of the next few exchanges are prefetched, because the array is
 * larger than the cache. */
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
    size_t *next;      /* chunks * buckets: rows of each, then the place of the next one */
    size_t *begin;     /* buckets + 1: first place of each */
    uint32_t *place;   /* place of each row within its bucket, in source order */
    size_t *list;      /* longest per thread */
    size_t longest;    /* rows of the longest bucket */
    size_t *to;        /* the place of each row; or NULL, and */
    uint32_t *from;    /* the source row at each place; one of both is filled */
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

/* Turns counts into first places: within a bucket chunk by chunk. */
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

/* Allocates the lists in which buckets are permuted. */
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

/* Fills `to` or `from`; false: no memory. */
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
    if (n <= SHUFFLE_ROWS_FEW) {
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
    size_t *to = from && n <= SHUFFLE_ROWS_FEW ? shuffled_places(seed, n, 1) : NULL;
    for (size_t i = 0; to && i < n; i++) from[to[i]] = (uint32_t)i;
    bool done =
        from && (to || (n > SHUFFLE_ROWS_FEW && permute_many(seed, n, NULL, from, threads)));
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

/* Returns the number of rows in each bucket; NULL: no memory. */
static size_t *count_buckets(const rows *data)
{
    size_t *count = calloc(BUCKETS + 1, sizeof *count);
    rng random = rng_stream(data->table.seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; count && i < total_rows(data); i++)
        count[rng_word(&random) >> (64 - TOP_BITS)]++;
    return count;
}

/* The buckets that hold some of the requested places, and their keys. */
typedef struct {
    size_t *begin; /* BUCKETS + 1: first place of each */
    size_t *from;  /* first of its keys among those collected; SIZE_MAX: not requested */
    keyed *keys;
    size_t collected;
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
        b->from[k] = b->collected;
        b->collected += b->begin[k + 1] - b->begin[k];
    }
    b->keys = malloc((b->collected + 1) * sizeof *b->keys);
    return b->keys;
}

/* Collects the keys of the requested buckets and sorts them. */
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
