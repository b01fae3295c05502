/* The hash of a table, by pieces that several may make at the same time. */
#ifndef TABLE_HASH_H
#define TABLE_HASH_H

#include "table/rows.h"

#define HASH_LANES 4
#define HASH_ROWS  ((size_t)16384) /* rows of a piece of x */

typedef struct {
    uint64_t lane[HASH_LANES], end;
} hash_stream;

/* `size` bytes will come in all. */
hash_stream hash_open(uint64_t seed, size_t size);
/* A whole number of HASH_LANES words. */
void hash_more(hash_stream *s, const void *bytes, size_t size);
/* The last bytes, of any number. */
uint64_t hash_close(hash_stream *s, const void *bytes, size_t size);

/* Of dense rows: where x begins, and the bytes of a row of it. */
const unsigned char *hash_rows(const rows *r, size_t *bytes);
/* The same of bytes that ranks have one after another, `size` here and `whole` in all; every rank gets the hash. */
uint64_t hash_over(struct ranks *among, uint64_t seed, const void *bytes, size_t size,
                   size_t whole);
/* What the pieces of x begin with. */
uint64_t hash_seed(const rows *r);
/* Piece `index` of `count` joins the others, which may come in any order; they begin as 0. */
uint64_t hash_join(uint64_t others, uint64_t piece, size_t index, size_t count);
/* The table's, once all pieces of x have joined; those of sparse rows are none. */
uint64_t hash_table(const rows *r, uint64_t pieces);

#endif
