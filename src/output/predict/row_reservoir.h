/* A random sample of rows of a stream whose length is not known in advance. Every row has a
 * key, a hash of its place, and the rows with the smallest keys are kept: the sample does not
 * depend on the threads or on the order in which they offer rows. */
#ifndef OUTPUT_ROW_RESERVOIR_H
#define OUTPUT_ROW_RESERVOIR_H

#include "core/status.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    size_t index; /* place in the file, from 0 */
    size_t copy;  /* 0, 1, ...: which copy of a row that counts several times */
    double *row;  /* the cells; NULL: only places are kept */
} kept_row;

typedef struct {
    size_t capacity; /* rows that are kept at most */
    size_t width;    /* doubles of a row; 0: only places are kept */
    uint64_t seed;
    kept_row *item; /* a heap, the largest key first; after reservoir_select by place */
    size_t count;
    _Atomic size_t offered; /* rows offered, each as often as it counts */
    _Atomic uint64_t below; /* keys from here on are rejected without the lock */
    pthread_mutex_t lock;
} row_reservoir;

/* Opens an empty reservoir. Call reservoir_clear in every case. */
sbps_status reservoir_open(row_reservoir *k, size_t capacity, size_t width, uint64_t seed,
                           sbps_error *err);
/* Offers a row, from any thread; returns false if memory ran out. */
bool reservoir_offer(row_reservoir *k, size_t index, const double *row);
/* Offers a row of this weight as that many copies, each of which may be kept. The fractional
 * part of the weight is the probability of one more copy. */
bool reservoir_offer_weighted(row_reservoir *k, size_t index, const double *row, double weight);
/* Reduces the sample to `count` rows, again a random sample, and sorts it by place. */
void reservoir_select(row_reservoir *k, size_t count);
void reservoir_clear(row_reservoir *k);

#endif
