/* Bottom-k sampling (Cohen, Kaplan 2007, PODC): a heap holds the rows with the k smallest
 * keys. */
#include "output/predict/row_reservoir.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 1e7 /* copies of one row */

/* splitmix64 (Steele, Lea, Flood 2014) of seed, place and copy. */
static uint64_t hash_key(uint64_t seed, size_t index, size_t copy)
{
    uint64_t z = (seed + 1) * UINT64_C(0xd1342543de82ef95) +
                 (index + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                 copy * UINT64_C(0xda942042e4dd58b5);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

sbps_status reservoir_open(row_reservoir *k, size_t capacity, size_t width, uint64_t seed,
                           sbps_error *err)
{
    *k = (row_reservoir){
        .capacity = capacity, .width = width, .seed = seed, .below = UINT64_MAX};
    pthread_mutex_init(&k->lock, NULL);
    k->item = calloc(capacity + 1, sizeof *k->item);
    return k->item ? SBPS_OK : fail_memory(err);
}

static void swap_rows(kept_row *a, kept_row *b)
{
    kept_row first = *a;
    *a = *b;
    *b = first;
}

/* Restores the heap after its first item was replaced. */
static void sift_down(kept_row *heap, size_t count)
{
    for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && heap[next + 1].key > heap[next].key) next++;
        if (heap[at].key >= heap[next].key) return;
        swap_rows(&heap[at], &heap[next]);
    }
}

/* Keeps a row if its key is small enough; called with the lock held. */
static bool keep_row(row_reservoir *k, uint64_t key, size_t index, size_t copy,
                     const double *row)
{
    bool grows = k->count < k->capacity;
    kept_row *to = &k->item[grows ? k->count : 0];
    if (!grows && key >= to->key) return true;
    if (k->width > 0 && !to->row && !(to->row = new_doubles(k->width))) return false;
    if (k->width > 0) memcpy(to->row, row, k->width * sizeof *row);
    to->key = key;
    to->index = index;
    to->copy = copy;
    if (grows) {
        /* Restores the heap after its last item was appended. */
        size_t at = k->count++;
        for (; at > 0 && k->item[at].key > k->item[(at - 1) / 2].key; at = (at - 1) / 2)
            swap_rows(&k->item[at], &k->item[(at - 1) / 2]);
    } else
        sift_down(k->item, k->count);
    if (k->count == k->capacity)
        atomic_store_explicit(&k->below, k->item[0].key, memory_order_relaxed);
    return true;
}

/* Offers one copy of a row. Keys that are too large are rejected without the lock. */
static bool offer_copy(row_reservoir *k, size_t index, size_t copy, const double *row)
{
    uint64_t key = hash_key(k->seed, index, copy);
    atomic_fetch_add_explicit(&k->offered, 1, memory_order_relaxed);
    if (k->capacity == 0 || key >= atomic_load_explicit(&k->below, memory_order_relaxed))
        return true;
    pthread_mutex_lock(&k->lock);
    bool done = keep_row(k, key, index, copy, row);
    pthread_mutex_unlock(&k->lock);
    return done;
}

bool reservoir_offer(row_reservoir *k, size_t index, const double *row)
{
    return offer_copy(k, index, 0, row);
}

bool reservoir_offer_weighted(row_reservoir *k, size_t index, const double *row, double weight)
{
    double whole = fmin(floor(weight), COPIES_MAX);
    double uniform = (double)(hash_key(~k->seed, index, 0) >> 11) * 0x1p-53;
    size_t copies = (size_t)whole + (uniform < weight - floor(weight));
    bool done = true;
    for (size_t c = 0; done && c < copies; c++) done = offer_copy(k, index, c, row);
    return done;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const kept_row *)a)->key, y = ((const kept_row *)b)->key;
    return (x > y) - (x < y);
}

/* Order by place in the file, then by copy. */
static int by_place(const void *a, const void *b)
{
    const kept_row *x = a, *y = b;
    if (x->index != y->index) return x->index > y->index ? 1 : -1;
    return (x->copy > y->copy) - (x->copy < y->copy);
}

void reservoir_select(row_reservoir *k, size_t count)
{
    qsort(k->item, k->count, sizeof *k->item, by_key);
    for (size_t i = count; i < k->count; i++) {
        free(k->item[i].row);
        k->item[i].row = NULL;
    }
    if (count < k->count) k->count = count;
    qsort(k->item, k->count, sizeof *k->item, by_place);
}

void reservoir_clear(row_reservoir *k)
{
    for (size_t i = 0; k->item && i < k->count; i++) free(k->item[i].row);
    if (k->item) pthread_mutex_destroy(&k->lock);
    free(k->item);
    k->item = NULL;
}
