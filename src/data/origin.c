/* A table in memory was permuted by Fisher-Yates, which is done again. A converted one lies in the order
 * of its rows' random keys (shuffle.c): one pass over the keys counts them by their top bits, which
 * tells the bucket of the row sought; a second keeps the keys of that bucket. */
#include "data/origin.h"

#include "base/rng.h"
#include <stdlib.h>

#define TOP_BITS 16
#define BUCKETS  ((size_t)1 << TOP_BITS)

size_t *shuffled_places(uint64_t seed, size_t n)
{
    size_t *to = malloc(n * sizeof *to);
    if (!to) return NULL;
    rng random = rng_stream(seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; i < n; i++) to[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = rng_below(&random, i + 1), swap = to[i];
        to[i] = to[j];
        to[j] = swap;
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
