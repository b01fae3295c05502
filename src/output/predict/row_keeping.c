/* Bottom-k sampling (Cohen, Kaplan 2007, PODC): a heap of the k smallest keys. */
#include "output/predict/row_keeping.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 1e7 /* of a row */

/* splitmix64 (Steele, Lea, Flood 2014) of seed, place and copy. */
static uint64_t key_of(uint64_t seed, size_t index, size_t copy)
{
    uint64_t z = (seed + 1) * UINT64_C(0xd1342543de82ef95) +
                 (index + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                 copy * UINT64_C(0xda942042e4dd58b5);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

sbps_status keeping_open(row_keeping *k, size_t capacity, size_t width, uint64_t seed,
                         sbps_error *err)
{
    *k = (row_keeping){.capacity = capacity, .width = width, .seed = seed, .below = UINT64_MAX};
    pthread_mutex_init(&k->lock, NULL);
    k->item = calloc(capacity + 1, sizeof *k->item);
    return k->item ? SBPS_OK : fail_memory(err);
}

static void exchange(kept_row *a, kept_row *b)
{
    kept_row held = *a;
    *a = *b;
    *b = held;
}

static void sift_up(kept_row *heap, size_t at)
{
    for (; at > 0 && heap[at].key > heap[(at - 1) / 2].key; at = (at - 1) / 2)
        exchange(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(kept_row *heap, size_t count)
{
    for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && heap[next + 1].key > heap[next].key) next++;
        if (heap[at].key >= heap[next].key) return;
        exchange(&heap[at], &heap[next]);
    }
}

static bool put(row_keeping *k, uint64_t key, size_t index, size_t copy, const double *row)
{
    bool grows = k->count < k->capacity;
    kept_row *to = &k->item[grows ? k->count : 0];
    if (!grows && key >= to->key) return true;
    if (k->width > 0 && !to->row && !(to->row = new_doubles(k->width))) return false;
    if (k->width > 0) memcpy(to->row, row, k->width * sizeof *row);
    to->key = key;
    to->index = index;
    to->copy = copy;
    if (grows)
        sift_up(k->item, k->count++);
    else
        sift_down(k->item, k->count);
    if (k->count == k->capacity)
        atomic_store_explicit(&k->below, k->item[0].key, memory_order_relaxed);
    return true;
}

static bool offer_copy(row_keeping *k, size_t index, size_t copy, const double *row)
{
    uint64_t key = key_of(k->seed, index, copy);
    atomic_fetch_add_explicit(&k->offered, 1, memory_order_relaxed);
    if (k->capacity == 0 || key >= atomic_load_explicit(&k->below, memory_order_relaxed))
        return true;
    pthread_mutex_lock(&k->lock);
    bool kept = put(k, key, index, copy, row);
    pthread_mutex_unlock(&k->lock);
    return kept;
}

bool keeping_offer(row_keeping *k, size_t index, const double *row)
{
    return offer_copy(k, index, 0, row);
}

bool keeping_offer_weighted(row_keeping *k, size_t index, const double *row, double weight)
{
    double whole = fmin(floor(weight), COPIES_MAX);
    double chance = (double)(key_of(~k->seed, index, 0) >> 11) * 0x1p-53;
    size_t copies = (size_t)whole + (chance < weight - floor(weight));
    bool kept = true;
    for (size_t c = 0; kept && c < copies; c++) kept = offer_copy(k, index, c, row);
    return kept;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const kept_row *)a)->key, y = ((const kept_row *)b)->key;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const kept_row *x = a, *y = b;
    if (x->index != y->index) return x->index > y->index ? 1 : -1;
    return (x->copy > y->copy) - (x->copy < y->copy);
}

void keeping_select(row_keeping *k, size_t count)
{
    qsort(k->item, k->count, sizeof *k->item, by_key);
    for (size_t i = count; i < k->count; i++) {
        free(k->item[i].row);
        k->item[i].row = NULL;
    }
    if (count < k->count) k->count = count;
    qsort(k->item, k->count, sizeof *k->item, by_place);
}

void keeping_clear(row_keeping *k)
{
    for (size_t i = 0; k->item && i < k->count; i++) free(k->item[i].row);
    if (k->item) pthread_mutex_destroy(&k->lock);
    free(k->item);
    k->item = NULL;
}
