/* How the rows of a table in memory are shuffled, for whoever sees some of them: origin.c has the whole. */
#ifndef DATA_PILES_H
#define DATA_PILES_H

#include "base/rng.h"

#define FEW         ((size_t)1 << 16) /* rows that are not dealt */
#define PILE_ROWS   ((size_t)1 << 15) /* rows of a pile, at least and but for chance */
#define PILE_BITS   16                /* of a word, for a row; as many piles at most */
#define PILE_SHARES ((size_t)64)      /* of the rows, with a stream of words each */

/* A power of two, for n > FEW rows. */
static inline size_t piles_of(size_t n)
{
    size_t piles = 2;
    while (piles < (size_t)1 << PILE_BITS && n / piles >= 2 * PILE_ROWS) piles *= 2;
    return piles;
}

/* The first row of a share. */
static inline size_t pile_share_begin(size_t n, size_t share)
{
    return n / PILE_SHARES * share + (share < n % PILE_SHARES ? share : n % PILE_SHARES);
}

static inline rng pile_share_stream(uint64_t seed, size_t share)
{
    return rng_stream(seed, 1 + share, RNG_SHUFFLE);
}

/* Where the rows of a pile go within it, in the order of the source. */
static inline void pile_permute(uint64_t seed, size_t pile, size_t count, size_t *list)
{
    rng random = rng_stream(seed, 1 + PILE_SHARES + pile, RNG_SHUFFLE);
    for (size_t i = 0; i < count; i++) list[i] = i;
    rng_choose(&random, count, count, list);
}

#endif
