#include "table/row_partition.h"
#include "core/memory.h"
#include "table/hash.h"
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
