#include "table/row_partition.h"

#include "core/memory.h"
#include "table/content_hash.h"
#include "table/row_origin.h"
#include "table/row_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_FROM                                                                             \
    ((size_t)16) /* parts per rank from which borders are between parts: ranks
                    then differ by a sixteenth at most */
#define RANK_ROWS_MIN (2 * ROW_BLOCK) /* mini-batches are drawn from a rank's rows */

size_t partition_begin(size_t whole, size_t size, size_t rank)
{
    size_t unit = whole / size >= PARTS_FROM * PART_ROWS ? PART_ROWS : ROW_BLOCK;
    size_t units = (whole + unit - 1) / unit;
    size_t begin = (units / size * rank + units % size * rank / size) *
                   unit; /* units * rank / size without overflow */
    return begin < whole ? begin : whole;
}

sbps_status partition_create(size_t whole, ranks *among, row_partition **out, sbps_error *err)
{
    size_t size = among->size, smallest = whole;
    for (size_t i = 0; i < size; i++) {
        size_t own = partition_begin(whole, size, i + 1) - partition_begin(whole, size, i);
        if (own < smallest) smallest = own;
    }
    *out = NULL;
    if (smallest < RANK_ROWS_MIN)
        return fail(
            err, SBPS_BAD_ARG,
            "%zu rows are too few for %zu ranks, which need %zu each: start fewer ranks", whole,
            size, RANK_ROWS_MIN);
    if (!(*out = malloc(sizeof **out))) return fail_memory(err);
    **out = (row_partition){.among = among,
                            .first_row = partition_begin(whole, size, among->rank),
                            .total_rows = whole,
                            .min_local_rows = smallest};
    return SBPS_OK;
}

/* Returns target less offset of the first local row. */
static double origin_of(const rows *r)
{
    return r->y[0] - (r->offset ? r->offset[0] : 0.0);
}

void partition_set_origin(const rows *r)
{
    r->partition->target_origin = origin_of(r);
    ranks_broadcast(r->partition->among, 0, &r->partition->target_origin,
                    sizeof r->partition->target_origin);
}

/* Reduces an array in memory to `count` elements from `first`; a mapped one is only pointed
 * into. */
static bool cut(bool mapped, void **array, size_t each, size_t first, size_t count)
{
    unsigned char *from = *array;
    if (!from) return true;
    from += first * each;
    if (mapped) {
        *array = from;
        return true;
    }
    void *kept = unset_doubles(count * each / sizeof(double) + 1);
    if (!kept) return false;
    memcpy(kept, from, count * each);
    free(*array);
    *array = kept;
    return true;
}

/* Reduces the entries of sparse rows. Those of a mapped table stay: starts count from the
 * beginning of the file. */
static bool cut_entries(rows *r, size_t first, size_t n)
{
    if (!r->storage.start) return true;
    size_t from = r->storage.start[first], count = r->storage.start[first + n] - from;
    bool mapped = r->storage.mapped;
    if (!cut(mapped, (void **)&r->storage.start, sizeof *r->storage.start, first, n + 1))
        return false;
    if (mapped) return true;
    for (size_t i = 0; i <= n; i++) r->storage.start[i] -= from;
    return cut(false, (void **)&r->storage.column, sizeof *r->storage.column, from, count) &&
           cut(false, (void **)&r->storage.value, sizeof *r->storage.value, from, count);
}

static bool cut_rows(rows *r, size_t first, size_t n)
{
    bool mapped = r->storage.mapped;
    return cut(mapped, (void **)&r->storage.x, r->stride * sizeof *r->storage.x, first, n) &&
           cut(mapped, (void **)&r->storage.x_float, r->stride * sizeof *r->storage.x_float,
               first, n) &&
           cut(mapped, (void **)&r->y, sizeof *r->y, first, n) &&
           cut(mapped, (void **)&r->weight, sizeof *r->weight, first, n) &&
           cut(mapped, (void **)&r->offset, sizeof *r->offset, first, n) &&
           cut_entries(r, first, n);
}

/* ---- same table on every rank ---- */

typedef struct {
    uint64_t rows, columns;
    uint64_t names, content; /* hashes */
} table_identity;

static uint64_t hash_names(const rows *r)
{
    uint64_t h = r->d;
    for (size_t j = 0; r->table.names && j < r->d; j++) {
        size_t size = strlen(r->table.names[j]);
        hash_stream s = hash_open(h, size);
        h = hash_close(&s, r->table.names[j], size);
    }
    return h;
}

/* Fails with what differs between rank `rank` and rank 0. */
static sbps_status refuse_table(const rows *r, size_t rank, const table_identity *a,
                                const table_identity *first, sbps_error *err)
{
    const char *source = r->table.source ? r->table.source : "table";
    if (a->rows != first->rows)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the table has %" PRIu64 " rows on rank %zu and %" PRIu64
                    " on rank 0: all ranks must read the same file",
                    source, a->rows, rank, first->rows);
    return fail(err, SBPS_BAD_FILE,
                "%s: the %s of rank %zu are not those of rank 0: all ranks must read the same "
                "file with the same options",
                source,
                a->columns != first->columns || a->names != first->names ? "columns" : "values",
                rank);
}

/* Of tables that every rank has read, or mapped, as a whole. */
static sbps_status check_same_table(const rows *r, ranks *among, sbps_error *err)
{
    const table_identity mine = {r->local_rows, r->d, hash_names(r), r->table.hash};
    table_identity *all = calloc(among->size, sizeof *all);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (all) ranks_gather(among, &mine, all, sizeof mine);
    for (size_t i = 1; status == SBPS_OK && i < among->size; i++)
        if (memcmp(&all[i], &all[0], sizeof mine) != 0)
            status = refuse_table(r, i, &all[i], &all[0], err);
    free(all);
    return status;
}

sbps_status rows_distribute(rows *r, ranks *among, sbps_error *err)
{
    sbps_status status = check_same_table(r, among, err);
    if (status == SBPS_OK) status = partition_create(r->local_rows, among, &r->partition, err);
    if (status != SBPS_OK) return status;
    size_t end = partition_begin(r->local_rows, among->size, among->rank + 1);
    r->partition->target_origin = origin_of(r);
    r->local_rows = end - r->partition->first_row;
    return cut_rows(r, r->partition->first_row, r->local_rows) ? SBPS_OK : fail_memory(err);
}

void row_relay(const rows *data, void (*go)(const rows *data, double *state), double *state,
               size_t width)
{
    ranks *among = data->partition ? data->partition->among : NULL;
    size_t bytes = width * sizeof *state, rank = ranks_rank(among);
    if (rank > 0) ranks_receive(among, rank - 1, state, bytes);
    go(data, state);
    if (!among) return;
    if (rank + 1 < among->size) ranks_send(among, rank + 1, state, bytes);
    ranks_broadcast(among, among->size - 1, state, bytes);
}

double sum_over_ranks(const rows *data, double here)
{
    ranks *among = data->partition ? data->partition->among : NULL;
    double sum = 0.0;
    if (!among) return here;
    ranks_gather(among, &here, among->scratch, sizeof here);
    for (size_t i = 0; i < among->size; i++) sum += among->scratch[i];
    return sum;
}

bool same_on_ranks(const rows *data, double here)
{
    ranks *among = data->partition ? data->partition->among : NULL;
    double first = here;
    if (among) ranks_broadcast(among, 0, &first, sizeof first);
    return !any_rank(data, !(here == first));
}

bool any_rank(const rows *data, bool here)
{
    return ranks_max(data->partition ? data->partition->among : NULL, here) > 0.0;
}

/* ---- scattering of rows ----
 *
 * The shuffle of row_origin.c assigns rows to buckets and permutes each bucket. A rank can
 * begin its random words anywhere, and so assigns its own rows; the number of rows of each
 * bucket on the ranks before is sent from rank to rank. A row's key is its number within its
 * bucket, after all buckets before. The rank that stores the bucket, or a part of it, permutes
 * it and so computes places. A bucket across a border is sent to all ranks that store some of
 * it, which drop the rows of others. */

/* ---- destinations ---- */

/* Finds the rows of the table that each rank gets; false: no memory. */
static bool find_rank_ranges(row_scatter *d)
{
    size_t size = d->among->size, whole = d->rule.whole, unit = d->rule.unit;
    d->from = calloc(size, sizeof *d->from);
    d->to = calloc(size, sizeof *d->to);
    for (size_t r = 0; d->from && d->to && r < size; r++) {
        size_t end = (partition_begin(whole, size, r + 1) + unit - 1) / unit * unit;
        d->from[r] = partition_begin(whole, size, r);
        d->to[r] = end < whole ? end : whole;
    }
    return d->from && d->to;
}

/* Returns the ranks that get some of the places [begin, end): both ends of a rank's rows grow
 * with the rank. */
static row_key ranks_of(const row_scatter *d, size_t begin, size_t end)
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
    return (row_key){.from = from, .to = low};
}

/* ---- buckets of the rows read on this rank ---- */

/* Positions the random words at a source row. */
static void seek_chunk(row_scatter *d, size_t row)
{
    size_t whole = d->rule.whole, into;
    while (d->chunk + 1 < SHUFFLE_CHUNKS && chunk_begin(whole, d->chunk + 1) <= row) d->chunk++;
    into = row - chunk_begin(whole, d->chunk);
    d->random = chunk_stream(d->rule.seed, d->chunk);
    rng_skip(&d->random, into / (64 / BUCKET_INDEX_BITS));
    d->unused = 0;
    if (into % (64 / BUCKET_INDEX_BITS) == 0) return;
    d->unused = 64 / BUCKET_INDEX_BITS - into % (64 / BUCKET_INDEX_BITS);
    d->word = rng_word(&d->random) >> into % (64 / BUCKET_INDEX_BITS) * BUCKET_INDEX_BITS;
}

/* Returns the bucket of the next source row. */
static size_t next_bucket(row_scatter *d)
{
    if (d->at == chunk_begin(d->rule.whole, d->chunk + 1)) seek_chunk(d, d->at);
    if (d->unused == 0) {
        d->word = rng_word(&d->random);
        d->unused = 64 / BUCKET_INDEX_BITS;
    }
    size_t bucket = (size_t)d->word & (d->buckets - 1);
    d->word >>= BUCKET_INDEX_BITS;
    d->unused--;
    d->at++;
    return bucket;
}

void row_scatter_rewind(row_scatter *d)
{
    d->at = d->before;
    d->chunk = 0;
    if (d->buckets == 0) return;
    if (d->count > 0) seek_chunk(d, d->at);
    for (size_t b = 0; b < d->buckets; b++) d->next[b] = d->begin[b] + d->earlier[b];
}

/* Counts the rows of each bucket on the ranks before, and on all. */
static void count_bucket_rows(row_scatter *d)
{
    size_t bytes = d->buckets * sizeof *d->next, rank = d->among->rank,
           last = d->among->size - 1;
    if (rank > 0) ranks_receive(d->among, rank - 1, d->earlier, bytes);
    row_scatter_rewind(d);
    while (d->at < d->before + d->count) d->next[next_bucket(d)]++;
    if (rank < last) ranks_send(d->among, rank + 1, d->next, bytes);
    ranks_broadcast(d->among, last, d->next, bytes);
    for (size_t b = 0; b < d->buckets; b++) d->begin[b + 1] = d->begin[b] + d->next[b];
}

static bool open_buckets(row_scatter *d)
{
    d->buckets = bucket_count(d->rule.whole);
    d->begin = calloc(d->buckets + 1, sizeof *d->begin);
    d->earlier = calloc(d->buckets, sizeof *d->earlier);
    d->next = calloc(d->buckets, sizeof *d->next);
    d->destination = calloc(d->buckets, sizeof *d->destination);
    if (!d->begin || !d->earlier || !d->next || !d->destination) return false;
    count_bucket_rows(d);
    for (size_t b = 0; b < d->buckets; b++)
        d->destination[b] = ranks_of(d, d->begin[b], d->begin[b + 1]);
    return true;
}

/* ---- places of the rows that this rank gets ---- */

static bool permute_buckets(row_scatter *d, size_t from, size_t to, size_t longest)
{
    size_t *list = malloc((longest + 1) * sizeof *list);
    for (size_t b = from; list && b < to; b++) {
        size_t begin = d->begin[b] - d->first, count = d->begin[b + 1] - d->begin[b];
        permute_bucket(d->rule.seed, b, count, list);
        for (size_t i = 0; i < count; i++) d->place[begin + i] = (uint32_t)(begin + list[i]);
    }
    free(list);
    return list != NULL;
}

/* Permutes the buckets of which this rank stores some. */
static sbps_status open_places(row_scatter *d, sbps_error *err)
{
    size_t rank = d->among->rank, from = 0, to, longest = 0;
    while (from + 1 < d->buckets && d->begin[from + 1] <= d->from[rank]) from++;
    for (to = from; to < d->buckets && d->begin[to] < d->to[rank]; to++)
        if (d->begin[to + 1] - d->begin[to] > longest)
            longest = d->begin[to + 1] - d->begin[to];
    d->first = d->begin[from];
    d->keys = d->begin[to] - d->first;
    if (d->keys > UINT32_MAX)
        return fail(err, SBPS_BAD_ARG,
                    "%zu rows are too many for %zu ranks, which store up to 4 billion each: "
                    "start more ranks",
                    d->rule.whole, d->among->size);
    d->place = malloc((d->keys + 1) * sizeof *d->place);
    return d->place && permute_buckets(d, from, to, longest) ? SBPS_OK : fail_memory(err);
}

/* ---- public functions ---- */

sbps_status row_scatter_open(ranks *among, const scatter_rule *rule, size_t before,
                             size_t count, row_scatter *d, sbps_error *err)
{
    *d = (row_scatter){.among = among, .rule = *rule, .before = before, .count = count};
    bool few = rule->whole <= SHUFFLE_ROWS_FEW, ready = find_rank_ranges(d);
    if (ready && !rule->in_order && few)
        ready = (d->places = shuffled_places(rule->seed, rule->whole, 1));
    if (ready && !rule->in_order && !few) ready = open_buckets(d);
    if (!ready) return fail_memory(err);
    row_scatter_rewind(d);
    return d->buckets > 0 ? open_places(d, err) : SBPS_OK;
}

row_key row_scatter_next(row_scatter *d)
{
    if (d->buckets > 0) {
        size_t bucket = next_bucket(d);
        row_key destination = d->destination[bucket];
        destination.key = d->next[bucket]++;
        return destination;
    }
    size_t place = d->places ? d->places[d->at] : d->at;
    row_key destination = ranks_of(d, place, place + 1);
    destination.key = place;
    d->at++;
    return destination;
}

size_t row_scatter_rows(const row_scatter *d)
{
    return d->to[d->among->rank] - d->from[d->among->rank];
}

bool row_scatter_place(const row_scatter *d, uint64_t key, size_t *place)
{
    size_t rank = d->among->rank;
    *place = key;
    if (d->buckets > 0) *place = d->first + d->place[key - d->first];
    if (*place < d->from[rank] || *place >= d->to[rank]) return false;
    *place -= d->from[rank];
    return true;
}

void row_scatter_close(row_scatter *d)
{
    free(d->from);
    free(d->to);
    free(d->places);
    free(d->begin);
    free(d->earlier);
    free(d->next);
    free(d->destination);
    free(d->place);
    *d = (row_scatter){0};
}
