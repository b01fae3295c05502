/* Rows that ranks have read are placed where one process would have placed them, wherever the
 * boundaries are. */
#include "check.h"
#include "ranks_by_threads.h"
#include "table/row_origin.h"
#include "table/row_partition.h"

#define SEED 11

typedef struct {
    size_t n, unit;
    bool in_order;
    const size_t *want;    /* the place of each row */
    size_t *got[TEAM_MAX]; /* row at each place of a rank, or n */
    size_t held[TEAM_MAX], first[TEAM_MAX];
} trial;

/* Ranks have read blocks of very different lengths, one of them no rows. */
static size_t source_begin(size_t n, size_t size, size_t rank)
{
    if (rank >= size) return n;
    if (rank == 0) return 0;
    return size > 2 && rank == 2 ? source_begin(n, size, 1)
                                 : (size_t)((double)n * pow((double)rank / (double)size, 1.7));
}

/* Rows and keys that one rank sends to each. */
static void send_rows(row_scatter *d, uint64_t *out[TEAM_MAX], size_t words[TEAM_MAX])
{
    for (size_t i = d->before; i < d->before + d->count; i++) {
        row_key goes = row_scatter_next(d);
        CHECK(goes.from < goes.to && goes.to <= d->among->size);
        for (size_t r = goes.from; r < goes.to; r++) {
            out[r][words[r]++] = goes.key;
            out[r][words[r]++] = i;
        }
    }
}

static void receive_rows(const row_scatter *d, trial *t, const uint64_t *in, size_t words)
{
    size_t rank = d->among->rank;
    for (size_t k = 0; k < words; k += 2) {
        size_t place;
        if (!row_scatter_place(d, in[k], &place)) continue;
        CHECK(place < t->held[rank]);
        CHECK(t->got[rank][place] == t->n); /* no row was there before */
        t->got[rank][place] = in[k + 1];
    }
}

static void scatter_once(row_scatter *d, trial *t)
{
    size_t size = d->among->size, rank = d->among->rank, words[TEAM_MAX] = {0};
    size_t got[TEAM_MAX], ones[TEAM_MAX], all = 0, sent = 0;
    uint64_t *out[TEAM_MAX], counts[TEAM_MAX], theirs[TEAM_MAX];
    for (size_t r = 0; r < size; r++) out[r] = malloc((2 * d->count + 1) * sizeof **out);
    for (size_t i = 0; i < t->held[rank]; i++) t->got[rank][i] = t->n;
    send_rows(d, out, words);
    for (size_t r = 0; r < size; r++) {
        ones[r] = 1;
        counts[r] = words[r];
        sent += words[r];
    }
    ranks_all_to_all(d->among, counts, ones, theirs, ones);
    for (size_t r = 0; r < size; r++) all += got[r] = theirs[r];
    uint64_t *letter = malloc((sent + 1) * sizeof *letter),
             *in = malloc((all + 1) * sizeof *in);
    for (size_t r = 0, at = 0; r < size; at += words[r++])
        memcpy(letter + at, out[r], words[r] * sizeof *letter);
    ranks_all_to_all(d->among, letter, words, in, got);
    receive_rows(d, t, in, all);
    for (size_t r = 0; r < size; r++) free(out[r]);
    free(letter);
    free(in);
}

static void scatter_on_ranks(ranks *among, void *self)
{
    trial *t = self;
    row_scatter d;
    size_t rank = among->rank, before = source_begin(t->n, among->size, rank);
    const scatter_rule rule = {SEED, t->in_order, t->n, t->unit};
    CHECK(row_scatter_open(among, &rule, before,
                           source_begin(t->n, among->size, rank + 1) - before, &d,
                           NULL) == SBPS_OK);
    t->held[rank] = row_scatter_rows(&d);
    t->first[rank] = partition_begin(t->n, among->size, rank);
    t->got[rank] = malloc((t->held[rank] + 1) * sizeof **t->got);
    scatter_once(&d, t);
    row_scatter_rewind(&d);
    scatter_once(&d, t); /* once more */
    row_scatter_close(&d);
}

/* Every place of every rank has its row, including the rows that complete the last unit. */
static void compare(size_t n, size_t size, size_t unit, bool in_order)
{
    trial t = {.n = n, .unit = unit, .in_order = in_order};
    size_t *want = in_order ? same_places(n) : shuffled_places(SEED, n, 2), wrong = 0;
    size_t *at = malloc(n * sizeof *at);
    for (size_t i = 0; i < n; i++) at[want[i]] = i;
    team_run(size, scatter_on_ranks, &t);
    for (size_t r = 0; r < size; r++) {
        size_t end = partition_begin(n, size, r + 1), reach = (end + unit - 1) / unit * unit;
        CHECK(t.first[r] + t.held[r] == (reach < n ? reach : n));
        for (size_t i = 0; i < t.held[r]; i++) wrong += t.got[r][i] != at[t.first[r] + i];
        free(t.got[r]);
    }
    CHECK(wrong == 0);
    free(want);
    free(at);
}

TEST(few_rows)
{
    for (size_t size = 1; size <= 7; size += 3) {
        compare(9000, size, 1, false);
        compare(65536, size, 16384, false);
        compare(9000, size, 16384, true);
    }
}

TEST(buckets_smaller_and_larger_than_parts)
{
    for (size_t size = 1; size <= 7; size++) compare(65537, size, 1, false);
    compare(200003, 2, 16384, false);
    compare(200003, 7, 16384, false);
    compare(300001, 3, 16384, false);
    compare(600001, 8, 1, false);
    compare(300001, 8, 1, true);
}

/* A stream continues from any word as if the words before had been drawn. */
TEST(words_are_skipped)
{
    for (uint64_t skip = 0; skip < 70; skip++)
        for (size_t before = 0; before < 20; before += 3) {
            rng a = rng_stream(5, 1, RNG_TEST), b = a;
            for (size_t i = 0; i < before; i++) CHECK(rng_word(&a) == rng_word(&b));
            for (uint64_t i = 0; i < skip; i++) rng_word(&a);
            rng_skip(&b, skip);
            for (size_t i = 0; i < 40; i++) CHECK(rng_word(&a) == rng_word(&b));
        }
}

CHECK_MAIN
