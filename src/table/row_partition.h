/* Distribution of a table over ranks. Each rank has consecutive rows of the shuffled order, and
 * so a random sample of the table. Borders are at multiples of ROW_BLOCK, and in long tables of
 * PART_ROWS, so that sums over ranks have the bits of one process (row_sums.h). */
#ifndef TABLE_ROW_PARTITION_H
#define TABLE_ROW_PARTITION_H

#include "core/ranks/ranks.h"
#include "table/row_origin.h"
#include "table/rows.h"

/* Returns the first row of a rank's part of `whole` rows; for rank `size`, `whole`. */
size_t partition_begin(size_t whole, size_t size, size_t rank);

/* Creates this rank's partition of a table whose rows are not read yet; the caller frees it.
 * Fails where some rank would have too few rows. */
sbps_status partition_create(size_t whole, ranks *among, row_partition **out, sbps_error *err);
/* Sets the partition's target_origin once the rows are there: rank 0's goes to all. */
void partition_set_origin(const rows *r);
/* Reduces a table that every rank has read to this rank's rows; a mapped table is not copied.
 * Fails on every rank, with the same message, where ranks have not read the same table: number
 * of rows, names of columns and hash are compared. */
sbps_status rows_distribute(rows *r, ranks *among, sbps_error *err);

/* Runs `go` over the rows of the table in their order, rank after rank: each continues with the
 * state (`width` doubles) of the rank before. All ranks get the last rank's state. */
void row_relay(const rows *data, void (*go)(const rows *data, double *state), double *state,
               size_t width);

/* Returns the sum of the ranks' values, added in the order of the ranks. */
double sum_over_ranks(const rows *data, double here);
/* Returns whether all ranks have the same value; NAN: false. */
bool same_on_ranks(const rows *data, double here);
/* Returns whether the value is true on some rank. */
bool any_rank(const rows *data, bool here);

/* ---- scattering of rows ----
 *
 * Sending rows from the ranks that read them to the ranks that keep them, in the order into
 * which one process would have shuffled them (row_origin.h). No rank sees all rows: with each
 * row travels a key from which the receiving rank computes its place. */

typedef struct {
    uint64_t seed;
    bool in_order; /* rows are not shuffled */
    size_t whole;  /* rows of the table */
    /* a rank also gets the rows that complete its last unit of this many; 1: only its own */
    size_t unit;
} scatter_rule;

/* The destination of a row. */
typedef struct {
    uint64_t key;
    size_t from, to; /* ranks from, ..., to - 1 */
} row_key;

typedef struct {
    ranks *among;
    scatter_rule rule;
    size_t before, count; /* source rows read on the ranks before this one, and on this one */
    size_t at;            /* the next of them */
    size_t *from, *to;    /* rows of the table that each rank gets */
    size_t *places;       /* few rows: the place of every row of the table; else NULL */
    /* many rows: the buckets of the shuffle; 0 for few rows or rows in order */
    size_t buckets;
    size_t *begin;        /* buckets + 1: first place of each, and the end */
    size_t *earlier;      /* rows of each bucket on the ranks before */
    size_t *next;         /* key of the next row of each bucket */
    row_key *destination; /* ranks that get some of each bucket */
    rng random;           /* words that assign rows to buckets, */
    size_t chunk, unused; /* of this chunk; rows for which `word` is still good */
    uint64_t word;
    size_t first, keys; /* keys that this rank may receive: the first, how many */
    uint32_t *place;    /* of each of them, counted from the first place of its first bucket */
} row_scatter;

/* Begins to scatter `count` rows read on this rank, after `before` on the ranks before. Every
 * rank calls it. Close it also after a failure. */
sbps_status row_scatter_open(ranks *among, const scatter_rule *rule, size_t before,
                             size_t count, row_scatter *d, sbps_error *err);
/* Returns the destination of the next row read on this rank. */
row_key row_scatter_next(row_scatter *d);
/* Begins again with the first of them. */
void row_scatter_rewind(row_scatter *d);
/* Returns the number of rows that this rank gets. */
size_t row_scatter_rows(const row_scatter *d);
/* Finds the place of the row with this key among this rank's rows; false: it belongs to another
 * rank only. */
bool row_scatter_place(const row_scatter *d, uint64_t key, size_t *place);
void row_scatter_close(row_scatter *d);

#endif
