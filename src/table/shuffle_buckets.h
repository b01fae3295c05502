/* How the rows of a table in memory are shuffled, for whoever sees some of them: origin.c has the whole. */
#ifndef TABLE_SHUFFLE_BUCKETS_H
#define TABLE_SHUFFLE_BUCKETS_H

#include "core/rng.h"

#define FEW               ((size_t)1 << 16) /* rows that are not dealt */
#define BUCKET_ROWS_MIN   ((size_t)1 << 15) /* rows of a pile, at least and but for chance */
#define BUCKET_INDEX_BITS 16                /* of a word, for a row; as many piles at most */
#define SHUFFLE_CHUNKS    ((size_t)64)      /* of the rows, with a stream of words each */

/* A power of two, for n > FEW rows. */
static inline size_t bucket_count(size_t n)
{
    size_t count = 2;
    while (count < (size_t)1 << BUCKET_INDEX_BITS && n / count >= 2 * BUCKET_ROWS_MIN)
        count *= 2;
    return count;
}

/* The first row of a share. */
static inline size_t chunk_begin(size_t n, size_t chunk)
{
    return n / SHUFFLE_CHUNKS * chunk +
           (chunk < n % SHUFFLE_CHUNKS ? chunk : n % SHUFFLE_CHUNKS);
}

static inline rng chunk_stream(uint64_t seed, size_t chunk)
{
    return rng_stream(seed, 1 + chunk, RNG_SHUFFLE);
}

/* Where the rows of a pile go within it, in the order of the source. */
static inline void permute_bucket(uint64_t seed, size_t bucket, size_t count, size_t *list)
{
    rng random = rng_stream(seed, 1 + SHUFFLE_CHUNKS + bucket, RNG_SHUFFLE);
    for (size_t i = 0; i < count; i++) list[i] = i;
    rng_choose(&random, count, count, list);
}

#endif
