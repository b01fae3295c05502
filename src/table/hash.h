/* The hash of a table, by which a checkpoint recognises it. x is hashed by pieces of HASH_ROWS
 * rows, which several threads and ranks may do at the same time. */
#ifndef TABLE_HASH_H
#define TABLE_HASH_H

#include "table/rows.h"

#define HASH_LANES 4
#define HASH_ROWS  ((size_t)16384) /* rows of a piece of x */

typedef struct {
    uint64_t lane[HASH_LANES], end;
} hash_stream;

/* Begins the hash of `size` bytes. */
hash_stream hash_open(uint64_t seed, size_t size);
/* Adds bytes, a whole number of HASH_LANES 64-bit words. */
void hash_more(hash_stream *s, const void *bytes, size_t size);
/* Adds the last bytes, any number of them; returns the hash. */
uint64_t hash_close(hash_stream *s, const void *bytes, size_t size);

/* Dense rows: returns where x begins, and the bytes of a row in *bytes. */
const unsigned char *hash_rows(const rows *r, size_t *bytes);
/* Returns on every rank the hash of the ranks' bytes one after another: `size` on this rank,
 * `whole` in all. */
uint64_t hash_over(struct ranks *among, uint64_t seed, const void *bytes, size_t size,
                   size_t whole);
/* Returns the seed of the hash of each piece of x: shape and storage. */
uint64_t hash_seed(const rows *r);
/* Returns `others` (0 at first) joined with piece `index` of `count`, in any order. */
uint64_t hash_join(uint64_t others, uint64_t piece, size_t index, size_t count);
/* Returns the hash of a table whose pieces are joined; `pieces` is not used for sparse rows. */
uint64_t hash_table(const rows *r, uint64_t pieces);

#endif
