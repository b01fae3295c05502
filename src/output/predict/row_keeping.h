/* A random sample of the rows that come by, of which nobody knows how many there will be: every row has a key, a hash of its
 * place, and those with the smallest keys are kept. So it does not matter who brings them, nor when. */
#ifndef OUTPUT_ROW_KEEPING_H
#define OUTPUT_ROW_KEEPING_H

#include "core/status.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    size_t index, copy; /* copy: 0, 1, ... of a row that counts several times */
    double *row;        /* NULL: rows are kept by their place alone */
} kept_row;

typedef struct {
    size_t capacity; /* rows */
    size_t width;
    uint64_t seed;
    kept_row *item; /* a heap, the largest key first, until it is closed; then by place */
    size_t count;
    _Atomic size_t offered; /* rows, each as often as it counts */
    _Atomic uint64_t below; /* keys that have a chance */
    pthread_mutex_t lock;
} row_keeping;

/* Rows of so many doubles, or 0. Clear it also after a failure. */
sbps_status keeping_open(row_keeping *k, size_t capacity, size_t width, uint64_t seed,
                         sbps_error *err);
/* By any thread; false: no memory. */
bool keeping_offer(row_keeping *k, size_t index, const double *row);
/* A row of this weight, as so many rows alike, of which each may be kept; what is left of a weight that is not whole counts
 * with that probability. */
bool keeping_offer_weighted(row_keeping *k, size_t index, const double *row, double weight);
/* `count` of those kept remain, a sample of all just as well, in the order of their places. */
void keeping_select(row_keeping *k, size_t count);
void keeping_clear(row_keeping *k);

#endif
