/* A table in memory of few rows was permuted by Fisher-Yates. Of many, rows are dealt to piles at random, a word
 * giving four of them theirs, and each pile, which stays in cache, is permuted by Fisher-Yates (Rao 1961;
 * Sandelius 1962): uniform as well, and several can do it. Shares of rows and piles have streams of their own, so
 * that it does not matter who does what. It is done again to say where a row was.
 *
 * A converted table lies in the order of its rows' random keys (shuffle.c): one pass over the keys counts them by
 * their top bits, which tells the bucket of the row sought; a second keeps the keys of that bucket. */
#include "data/origin.h"

#include "base/rng.h"
#include "base/workers.h"
#include <stdlib.h>

#define TOP_BITS  16
#define BUCKETS   ((size_t)1 << TOP_BITS)
#define AHEAD     ((size_t)32)
#define FEW       ((size_t)1 << 16) /* rows that are not dealt */
#define PILE_ROWS ((size_t)1 << 15) /* rows of a pile, at least and but for chance */
#define PILE_BITS 16                /* of a word, for a row; as many piles at most */
#define SHARES    ((size_t)64)

/* The places that the next few exchanges need, asked for before they are: memory is far. */
static void permute(uint64_t seed, size_t n, size_t *to)
{
    size_t other[AHEAD], i = n - 1;
    rng random = rng_stream(seed, 0, RNG_SHUFFLE);
    for (size_t k = 0; k < n; k++) to[k] = k;
    while (i > 0) {
        size_t count = i < AHEAD ? i : AHEAD;
        for (size_t k = 0; k < count; k++) {
            other[k] = rng_below(&random, i - k + 1);
            __builtin_prefetch(&to[other[k]], 1);
        }
        for (size_t k = 0; k < count; k++, i--) {
            size_t swap = to[i];
            to[i] = to[other[k]];
            to[other[k]] = swap;
        }
    }
}

typedef struct {
    uint64_t seed;
    size_t n, piles; /* a power of two */
    uint16_t *pile;  /* of each row */
    size_t *next;    /* of each share and pile: rows of it, then the place of the next one */
    size_t *begin;   /* of each pile */
    size_t *place;   /* where the rows of each pile go, in the order of the source */
    size_t *to;      /* where each row goes */
} deal;

static size_t share_begin(const deal *d, size_t share)
{
    return d->n / SHARES * share + (share < d->n % SHARES ? share : d->n % SHARES);
}

static void deal_share(void *self, unsigned worker, size_t share)
{
    const deal *d = self;
    rng random = rng_stream(d->seed, 1 + share, RNG_SHUFFLE);
    size_t *count = d->next + share * d->piles, end = share_begin(d, share + 1);
    uint64_t word = 0;
    (void)worker;
    for (size_t i = share_begin(d, share), k = 0; i < end; i++, k++, word >>= PILE_BITS) {
        if (k % (64 / PILE_BITS) == 0) word = rng_word(&random);
        d->pile[i] = (uint16_t)(word & (d->piles - 1));
        count[d->pile[i]]++;
    }
}

/* Counts become places: of a pile those of the first share, then the second's, ... */
static void lay_out(const deal *d)
{
    size_t at = 0;
    for (size_t b = 0; b < d->piles; b++) {
        d->begin[b] = at;
        for (size_t share = 0; share < SHARES; share++) {
            size_t *next = &d->next[share * d->piles + b], count = *next;
            *next = at;
            at += count;
        }
    }
    d->begin[d->piles] = at;
}

static void permute_pile(void *self, unsigned worker, size_t b)
{
    const deal *d = self;
    size_t begin = d->begin[b], count = d->begin[b + 1] - begin;
    rng random = rng_stream(d->seed, 1 + SHARES + b, RNG_SHUFFLE);
    (void)worker;
    for (size_t i = begin; i < begin + count; i++) d->place[i] = i;
    rng_choose(&random, count, count, d->place + begin);
}

static void place_share(void *self, unsigned worker, size_t share)
{
    const deal *d = self;
    size_t *next = d->next + share * d->piles, end = share_begin(d, share + 1);
    (void)worker;
    for (size_t i = share_begin(d, share); i < end; i++)
        d->to[i] = d->place[next[d->pile[i]]++];
}

static bool deal_out(deal *d, unsigned threads)
{
    sbps_status status = workers_run(threads, SHARES, deal_share, d, NULL);
    lay_out(d);
    if (status == SBPS_OK) status = workers_run(threads, d->piles, permute_pile, d, NULL);
    if (status == SBPS_OK) status = workers_run(threads, SHARES, place_share, d, NULL);
    return status == SBPS_OK;
}

static bool permute_many(uint64_t seed, size_t n, size_t *to, unsigned threads)
{
    deal d = {.seed = seed, .n = n, .piles = 2, .to = to};
    while (d.piles < (size_t)1 << PILE_BITS && n / d.piles >= 2 * PILE_ROWS) d.piles *= 2;
    d.pile = malloc(n * sizeof *d.pile);
    d.next = calloc(SHARES * d.piles, sizeof *d.next);
    d.begin = malloc((d.piles + 1) * sizeof *d.begin);
    d.place = malloc(n * sizeof *d.place);
    bool done = d.pile && d.next && d.begin && d.place && deal_out(&d, threads);
    free(d.pile);
    free(d.next);
    free(d.begin);
    free(d.place);
    return done;
}

size_t *shuffled_places(uint64_t seed, size_t n, unsigned threads)
{
    size_t *to = malloc(n * sizeof *to);
    if (!to) return NULL;
    if (n <= FEW) {
        permute(seed, n, to);
        return to;
    }
    if (permute_many(seed, n, to, threads)) return to;
    free(to);
    return NULL;
}

static sbps_status origin_in_memory(const rows *data, size_t place, size_t *origin,
                                    sbps_error *err)
{
    size_t *to = shuffled_places(data->seed, data->n, 1);
    if (!to) return fail_memory(err);
    for (*origin = 0; to[*origin] != place;) ++*origin;
    free(to);
    return SBPS_OK;
}

typedef struct {
    uint64_t key;
    size_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* The bucket that holds `*place` of all, which becomes its place there; `rows_of` counts the buckets. */
static size_t bucket_of(const rows *data, size_t *rows_of, size_t *place)
{
    rng random = rng_stream(data->seed, 0, RNG_SHUFFLE);
    size_t bucket = 0;
    for (size_t i = 0; i < data->n; i++) rows_of[rng_word(&random) >> (64 - TOP_BITS)]++;
    for (; *place >= rows_of[bucket]; bucket++) *place -= rows_of[bucket];
    return bucket;
}

static sbps_status origin_by_keys(const rows *data, size_t place, size_t *origin,
                                  sbps_error *err)
{
    size_t *rows_of = calloc(BUCKETS, sizeof *rows_of), kept = 0;
    if (!rows_of) return fail_memory(err);
    size_t bucket = bucket_of(data, rows_of, &place), count = rows_of[bucket];
    free(rows_of);
    keyed *keys = malloc(count * sizeof *keys);
    if (!keys) return fail_memory(err);
    rng random = rng_stream(data->seed, 0, RNG_SHUFFLE);
    for (size_t i = 0; i < data->n; i++) {
        uint64_t key = rng_word(&random);
        if (key >> (64 - TOP_BITS) == bucket) keys[kept++] = (keyed){key, i};
    }
    qsort(keys, count, sizeof *keys, by_key);
    *origin = keys[place].row;
    free(keys);
    return SBPS_OK;
}

sbps_status rows_origin(const rows *data, size_t place, size_t *origin, sbps_error *err)
{
    return data->mapped ? origin_by_keys(data, place, origin, err)
                        : origin_in_memory(data, place, origin, err);
}
