/* The shuffle of rows in memory, and its inverse: which row of the source is at a place of the
 * table. The permutation is uniform and depends only on the seed and the number of rows. */
#ifndef TABLE_ROW_ORIGIN_H
#define TABLE_ROW_ORIGIN_H

#include "core/rng.h"
#include "table/rows.h"

/* Returns the place of each source row after the shuffle of n >= 1 rows in memory, in an array
 * that the caller frees; NULL: no memory. */
size_t *shuffled_places(uint64_t seed, size_t n, unsigned threads);
/* The inverse for n < 2^32 rows: returns the source row that goes to each place. Takes less
 * memory. */
uint32_t *shuffled_sources(uint64_t seed, size_t n, unsigned threads);
/* Returns the identity, for rows that are not shuffled; NULL: no memory. */
size_t *same_places(size_t n);

/* Finds the source row at `place` of the table, counted from 0 and without dropped rows. */
sbps_status rows_origin(const rows *data, size_t place, size_t *origin, sbps_error *err);
/* Replaces several places of a converted table by their source rows. */
sbps_status rows_origins(const rows *data, size_t count, size_t *place, sbps_error *err);

/* ---- parts of the shuffle, for ranks that see some of the rows (row_partition.h) ---- */

#define SHUFFLE_ROWS_FEW                                                                       \
    ((size_t)1 << 16) /* rows up to which one Fisher-Yates pass permutes all */
#define BUCKET_ROWS_MIN   ((size_t)1 << 15) /* expected rows of a bucket, at least */
#define BUCKET_INDEX_BITS 16           /* of a random word, for one row; 2^16 buckets at most */
#define SHUFFLE_CHUNKS    ((size_t)64) /* of the source rows, each with its random stream */

/* Returns the number of buckets, a power of two, for n > SHUFFLE_ROWS_FEW rows. */
static inline size_t bucket_count(size_t n)
{
    size_t count = 2;
    while (count < (size_t)1 << BUCKET_INDEX_BITS && n / count >= 2 * BUCKET_ROWS_MIN)
        count *= 2;
    return count;
}

/* Returns the first source row of a chunk of n rows; chunk SHUFFLE_CHUNKS begins at n. */
static inline size_t chunk_begin(size_t n, size_t chunk)
{
    return n / SHUFFLE_CHUNKS * chunk +
           (chunk < n % SHUFFLE_CHUNKS ? chunk : n % SHUFFLE_CHUNKS);
}

/* Returns the random stream that assigns the rows of a chunk to buckets. */
static inline rng chunk_stream(uint64_t seed, size_t chunk)
{
    return rng_stream(seed, 1 + chunk, RNG_SHUFFLE);
}

/* list[i] = place within the bucket of its i-th row in source order. */
static inline void permute_bucket(uint64_t seed, size_t bucket, size_t count, size_t *list)
{
    rng random = rng_stream(seed, 1 + SHUFFLE_CHUNKS + bucket, RNG_SHUFFLE);
    for (size_t i = 0; i < count; i++) list[i] = i;
    rng_choose(&random, count, count, list);
}

#endif
