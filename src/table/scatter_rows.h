/* Rows on their way from the ranks that have read them to those that keep them, in the order that one process would
 * have shuffled them into (origin.h). No rank sees all rows: with each goes a ticket, by which the rank that gets it
 * knows its place. */
#ifndef TABLE_SCATTER_ROWS_H
#define TABLE_SCATTER_ROWS_H

#include "core/ranks/ranks.h"
#include "table/shuffle_buckets.h"

typedef struct {
    uint64_t seed;
    bool in_order; /* there is no shuffle */
    size_t whole;  /* rows of the table */
    size_t unit;   /* a rank gets the rows that complete its last unit, too; 1: its own alone */
} scatter_rule;

/* Where a row goes. */
typedef struct {
    uint64_t key;
    size_t from, to; /* ranks */
} row_key;

typedef struct {
    ranks *among;
    scatter_rule rule;
    size_t before,
        count;         /* rows of the source that were read here: the first of them, how many */
    size_t at;         /* the next of them */
    size_t *from, *to; /* rows of the table that each rank gets */
    size_t *places;    /* of all rows, where these are few */
    size_t buckets;    /* else; 0: rows are few, or in order */
    size_t *begin;     /* of each pile, and the end */
    size_t *earlier;   /* rows of each pile on the ranks before */
    size_t *next;      /* ticket of the next row of each pile */
    row_key *goes;     /* where rows of each pile go */
    rng random;        /* words that tell piles, */
    size_t chunk, unused; /* of this share; rows that the word at hand is for */
    uint64_t word;
    size_t first, keys; /* tickets that may come here: the first of them, how many */
    uint32_t *place;    /* of each of those, counted from where its first pile begins */
} row_scatter;

/* Every rank says how many rows it has; `before` is what all before it have. Close it also after a failure. */
sbps_status row_scatter_open(ranks *among, const scatter_rule *rule, size_t before,
                             size_t count, row_scatter *d, sbps_error *err);
/* The next row of those read here. */
row_key row_scatter_next(row_scatter *d);
/* From the first once more. */
void row_scatter_rewind(row_scatter *d);
/* Rows that this rank gets. */
size_t row_scatter_rows(const row_scatter *d);
/* Where the row with this ticket goes among them; false: to another rank. */
bool row_scatter_place(const row_scatter *d, uint64_t key, size_t *place);
void row_scatter_close(row_scatter *d);

#endif
