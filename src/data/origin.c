/* A table in memory was permuted by Fisher-Yates, which is done again. A converted one lies in the order
 * of its rows' random keys (shuffle.c): one pass over the keys counts them by their top bits, which
 * tells the bucket of the row sought; a second keeps the keys of that bucket. */
#include "data/origin.h"

#include "base/rng.h"
#include <stdlib.h>

#define TOP_BITS 16
#define BUCKETS  ((size_t)1 << TOP_BITS)
#define AHEAD    ((size_t)32)

/* The places that the next few exchanges need, asked for before they are: memory is far. */
size_t *shuffled_places(uint64_t seed, size_t n)
{
    size_t *to = malloc(n * sizeof *to), other[AHEAD], i = n - 1;
    if (!to) return NULL;
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
    return to;
}

static sbps_status origin_in_memory(const rows *data, size_t place, size_t *origin,
                                    sbps_error *err)
{
    size_t *to = shuffled_places(data->seed, data->n);
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

/* The bucket that holds `*place` of all, which becomes its place there; `rows_of` counts the buckets. */
static size_t bucket_of(const rows *data, size_t *rows_of, size_t *place)
{
    rng random = rng_stream(data->seed, 0, RNG_SHUFFLE);
    size_t bucket = 0;
    for (size_t i = 0; i < data->n; i++) rows_of[rng_word(&random) >> (64 - TOP_BITS)]++;
    for (; *place >= rows_of[bucket]; bucket++) *place -= rows_of[bucket];
    return bucket;
}

static sbps_status origin_by_keys(const rows *data, size_t place, size_t *origin,
                                  sbps_error *err)
{
    size_t *rows_of = calloc(BUCKETS, sizeof *rows_of), kept = 0;
    if (!rows_of) return fail_memory(err);
    size_t bucket = bucket_of(data, rows_of, &place), count = rows_of[bucket];
    free(rows_of);
    keyed *keys = malloc(count * sizeof *keys);
    if (!keys) return fail_memory(err);
    rng random = rng_stream(data->seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; i < data->n; i++) {
        uint64_t key = rng_word(&random);
        if (key >> (64 - TOP_BITS) == bucket) keys[kept++] = (keyed){key, i};
    }
    qsort(keys, count, sizeof *keys, by_key);
    *origin = keys[place].row;
    free(keys);
    return SBPS_OK;
}

sbps_status rows_origin(const rows *data, size_t place, size_t *origin, sbps_error *err)
{
    return data->mapped ? origin_by_keys(data, place, origin, err)
                        : origin_in_memory(data, place, origin, err);
}
