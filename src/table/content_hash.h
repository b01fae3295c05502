/* Two hashes of a table: of its content, and of its rows in their order (hash_table).
 *
 * The content of a table is one number that depends neither on the order of its rows nor on how
 * they are stored:
 *
 *   sum over rows i of mix(h_i) mod 2^64,    h_i = sum over cells of hash(cell)          (1)
 *
 * It tells whether the rows of a file, read one by one, are those of a run. */
#ifndef TABLE_CONTENT_HASH_H
#define TABLE_CONTENT_HASH_H

#include "table/rows.h"

typedef enum {
    CONTENT_UNKNOWN,
    CONTENT_EXACT, /* every bit of every number counts */
    /* numbers are rounded to floats first: they are stored as floats, or computed by functions
     * whose last bits differ between machines */
    CONTENT_ROUNDED
} content_kind;

typedef struct {
    content_kind kind;
    uint64_t sum;
} table_content;

/* Returns the kind for a table with the columns of a formula (NULL: without one). */
content_kind content_kind_of(const rows *r, const char *formula);

/* The hash of one row, cell by cell; begins as {.kind = ...}. */
typedef struct {
    content_kind kind;
    uint64_t h;
} row_content;

/* First place past those of the columns: the target, weight, offset, then the group terms. */
#define CONTENT_TARGETS ((uint64_t)1 << 33)
/* Adds the number at a place: its column of the design, or CONTENT_TARGETS and beyond. 0 adds
 * nothing, so that sparse and dense rows agree. */
void content_number(row_content *c, uint64_t place, double x);
/* Adds n numbers at places 0, 1, ..., n - 1. */
void content_numbers(row_content *c, size_t n, const double *x);
/* Adds target, weight and offset; the target of a row of weight 0 does not count. */
void content_targets(row_content *c, double y, double weight, double offset);
/* Adds the level of group term t and the `count` numbers z that vary with it. */
void content_group(row_content *c, size_t t, const char *level, size_t count, const double *z);
/* Returns mix(h), the row's summand in (1). */
uint64_t content_row(const row_content *c);

/* Computes (1) for a whole table, over all ranks. Generated tables stay CONTENT_UNKNOWN. */
sbps_status content_table(const rows *r, content_kind kind, unsigned threads,
                          table_content *out, sbps_error *err);

/* Writes at most 32 bytes as in a run's file, "exact:0123456789abcdef"; "" if unknown. */
void content_print(const table_content *c, char *text);
/* Reads such a text; NULL or anything else is CONTENT_UNKNOWN. */
table_content content_read(const char *text);

/* ---- the hash of the rows in their order ----
 *
 * The hash of a table, by which a checkpoint recognises it. x is hashed by pieces of HASH_ROWS
 * rows, which several threads and ranks may do at the same time. */

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
