/* The shuffle of origin.c deals rows to piles and permutes each pile. Its words are counted, so that a rank makes those
 * of its own rows; how many rows of each pile the ranks before have goes from rank to rank. A row's ticket is its
 * number within its pile, behind all piles before: the rank that keeps the pile, or a part of it, permutes it and so
 * knows places. A pile that lies across a border goes to all ranks that have some of it, which drop what is not
 * theirs. */
#include "data/deal.h"

#include "data/origin.h"
#include "data/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- who gets what ---- */

static bool find_shares(row_deal *d)
{
    size_t size = d->among->size, whole = d->rule.whole, unit = d->rule.unit;
    d->from = calloc(size, sizeof *d->from);
    d->to = calloc(size, sizeof *d->to);
    for (size_t r = 0; d->from && d->to && r < size; r++) {
        size_t end = (share_begin(whole, size, r + 1) + unit - 1) / unit * unit;
        d->from[r] = share_begin(whole, size, r);
        d->to[r] = end < whole ? end : whole;
    }
    return d->from && d->to;
}

/* Ranks that get some of the places [begin, end): both ends of shares grow with the rank. */
static row_ticket ranks_of(const row_deal *d, size_t begin, size_t end)
{
    size_t low = 0, high = d->among->size, from;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (d->to[middle] > begin)
            high = middle;
        else
            low = middle + 1;
    }
    from = low;
    for (high = d->among->size; low < high;) {
        size_t middle = (low + high) / 2;
        if (d->from[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return (row_ticket){.from = from, .to = low};
}

/* ---- piles of the rows read here ---- */

static void open_share(row_deal *d, size_t row)
{
    size_t whole = d->rule.whole, into;
    while (d->share + 1 < PILE_SHARES && pile_share_begin(whole, d->share + 1) <= row)
        d->share++;
    into = row - pile_share_begin(whole, d->share);
    d->random = pile_share_stream(d->rule.seed, d->share);
    rng_skip(&d->random, into / (64 / PILE_BITS));
    d->unused = 0;
    if (into % (64 / PILE_BITS) == 0) return;
    d->unused = 64 / PILE_BITS - into % (64 / PILE_BITS);
    d->word = rng_word(&d->random) >> into % (64 / PILE_BITS) * PILE_BITS;
}

static size_t next_pile(row_deal *d)
{
    if (d->at == pile_share_begin(d->rule.whole, d->share + 1)) open_share(d, d->at);
    if (d->unused == 0) {
        d->word = rng_word(&d->random);
        d->unused = 64 / PILE_BITS;
    }
    size_t pile = (size_t)d->word & (d->piles - 1);
    d->word >>= PILE_BITS;
    d->unused--;
    d->at++;
    return pile;
}

void row_deal_rewind(row_deal *d)
{
    d->at = d->before;
    d->share = 0;
    if (d->piles == 0) return;
    if (d->count > 0) open_share(d, d->at);
    for (size_t b = 0; b < d->piles; b++) d->next[b] = d->begin[b] + d->earlier[b];
}

/* How many rows of each pile the ranks before have, and all of them together. */
static void count_piles(row_deal *d)
{
    size_t bytes = d->piles * sizeof *d->next, rank = d->among->rank, last = d->among->size - 1;
    if (rank > 0) ranks_receive(d->among, rank - 1, d->earlier, bytes);
    row_deal_rewind(d);
    while (d->at < d->before + d->count) d->next[next_pile(d)]++;
    if (rank < last) ranks_send(d->among, rank + 1, d->next, bytes);
    ranks_tell(d->among, last, d->next, bytes);
    for (size_t b = 0; b < d->piles; b++) d->begin[b + 1] = d->begin[b] + d->next[b];
}

static bool open_piles(row_deal *d)
{
    d->piles = piles_of(d->rule.whole);
    d->begin = calloc(d->piles + 1, sizeof *d->begin);
    d->earlier = calloc(d->piles, sizeof *d->earlier);
    d->next = calloc(d->piles, sizeof *d->next);
    d->goes = calloc(d->piles, sizeof *d->goes);
    if (!d->begin || !d->earlier || !d->next || !d->goes) return false;
    count_piles(d);
    for (size_t b = 0; b < d->piles; b++)
        d->goes[b] = ranks_of(d, d->begin[b], d->begin[b + 1]);
    return true;
}

/* ---- places of the rows that come here ---- */

static bool permute_piles(row_deal *d, size_t from, size_t to, size_t longest)
{
    size_t *list = malloc((longest + 1) * sizeof *list);
    for (size_t b = from; list && b < to; b++) {
        size_t begin = d->begin[b] - d->first, count = d->begin[b + 1] - d->begin[b];
        pile_permute(d->rule.seed, b, count, list);
        for (size_t i = 0; i < count; i++) d->place[begin + i] = (uint32_t)(begin + list[i]);
    }
    free(list);
    return list != NULL;
}

static sbps_status open_places(row_deal *d, sbps_error *err)
{
    size_t rank = d->among->rank, from = 0, to, longest = 0;
    while (from + 1 < d->piles && d->begin[from + 1] <= d->from[rank]) from++;
    for (to = from; to < d->piles && d->begin[to] < d->to[rank]; to++)
        if (d->begin[to + 1] - d->begin[to] > longest)
            longest = d->begin[to + 1] - d->begin[to];
    d->first = d->begin[from];
    d->tickets = d->begin[to] - d->first;
    if (d->tickets > UINT32_MAX)
        return fail(err, SBPS_BAD_ARG,
                    "%zu rows are too many for %zu ranks, each of which holds up to 4 billion: "
                    "start more",
                    d->rule.whole, d->among->size);
    d->place = malloc((d->tickets + 1) * sizeof *d->place);
    return d->place && permute_piles(d, from, to, longest) ? SBPS_OK : fail_memory(err);
}

/* ---- from outside ---- */

sbps_status row_deal_open(ranks *among, const deal_rule *rule, size_t before, size_t count,
                          row_deal *d, sbps_error *err)
{
    *d = (row_deal){.among = among, .rule = *rule, .before = before, .count = count};
    bool few = rule->whole <= FEW, ready = find_shares(d);
    if (ready && !rule->in_order && few)
        ready = (d->places = shuffled_places(rule->seed, rule->whole, 1));
    if (ready && !rule->in_order && !few) ready = open_piles(d);
    if (!ready) return fail_memory(err);
    row_deal_rewind(d);
    return d->piles > 0 ? open_places(d, err) : SBPS_OK;
}

row_ticket row_deal_next(row_deal *d)
{
    if (d->piles > 0) {
        size_t pile = next_pile(d);
        row_ticket goes = d->goes[pile];
        goes.ticket = d->next[pile]++;
        return goes;
    }
    size_t place = d->places ? d->places[d->at] : d->at;
    row_ticket goes = ranks_of(d, place, place + 1);
    goes.ticket = place;
    d->at++;
    return goes;
}

size_t row_deal_rows(const row_deal *d)
{
    return d->to[d->among->rank] - d->from[d->among->rank];
}

bool row_deal_place(const row_deal *d, uint64_t ticket, size_t *place)
{
    size_t rank = d->among->rank;
    *place = ticket;
    if (d->piles > 0) *place = d->first + d->place[ticket - d->first];
    if (*place < d->from[rank] || *place >= d->to[rank]) return false;
    *place -= d->from[rank];
    return true;
}

void row_deal_close(row_deal *d)
{
    free(d->from);
    free(d->to);
    free(d->places);
    free(d->begin);
    free(d->earlier);
    free(d->next);
    free(d->goes);
    free(d->place);
    *d = (row_deal){0};
}
