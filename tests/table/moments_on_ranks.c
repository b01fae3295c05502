/* Moments and hash of rows that are distributed over ranks have the bits of one process. */
#include "check.h"
#include "core/memory.h"
#include "core/rng.h"
#include "ranks_by_threads.h"
#include "table/column_moments.h"
#include "table/content_hash.h"
#include "table/row_partition.h"
#include "table/rows.h"

enum { D = 3, SPARSE_D = 40 };

#define TEN target, target, target, target, target, target, target, target, target, target
static char target[] = "y", *names[SPARSE_D] = {TEN, TEN, TEN, TEN};

/* The number in row i and column j. Sums of these depend on their order. */
static double cell_of(size_t i, size_t j)
{
    rng random = rng_stream(7, i * SPARSE_D + j, RNG_TEST);
    return ldexp(rng_normal(&random), (int)rng_below(&random, 30));
}

/* Rows [first, first + held) of `whole`. */
static rows some_rows(size_t first, size_t held)
{
    rows r = {
        .storage.kind = &storage_double, .local_rows = held, .d = D, .stride = KERNEL_LANES};
    r.table.names = names;
    r.table.target = target;
    r.storage.x = new_doubles(held * r.stride);
    r.y = new_doubles(held);
    r.offset = new_doubles(held);
    r.table.mean = new_doubles(SPARSE_D);
    r.table.sd = new_doubles(SPARSE_D);
    for (size_t i = 0; i < held; i++) {
        r.y[i] = cell_of(first + i, 0);
        r.offset[i] = cell_of(first + i, 1);
        for (size_t j = 0; j < D; j++)
            r.storage.x[i * r.stride + j] = cell_of(first + i, j + 2);
    }
    return r;
}

/* The same y; every row has entries in a few of the columns, some in none. */
static rows sparse_rows_of(size_t first, size_t held)
{
    rows r = some_rows(first, held);
    free(r.storage.x);
    r.storage.x = NULL;
    r.storage.kind = &storage_sparse;
    r.d = r.stride = SPARSE_D;
    r.storage.start = calloc(held + 1, sizeof *r.storage.start);
    r.storage.column = calloc(SPARSE_D * held + 1, sizeof *r.storage.column);
    r.storage.value = calloc(SPARSE_D * held + 1, sizeof *r.storage.value);
    for (size_t i = 0; i < held; i++) {
        size_t at = r.storage.start[i];
        for (size_t j = (first + i) % 7; j < (first + i) % 11; j++, at++) {
            r.storage.column[at] = (uint32_t)(3 * j);
            r.storage.value[at] = cell_of(first + i, j);
        }
        r.storage.start[i + 1] = at;
    }
    return r;
}

static void clear(rows *r)
{
    free(r->storage.x);
    free(r->storage.x_float);
    free(r->storage.start);
    free(r->storage.column);
    free(r->storage.value);
    free(r->y);
    free(r->offset);
    free(r->table.mean);
    free(r->table.sd);
    free(r->partition);
}

typedef enum { DOUBLES, FLOATS, SPARSE, SCALED } table_kind;

/* Scales each row when it is visited, once each. */
static void halve(void *self, size_t first, size_t count)
{
    const rows *r = self;
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < D; j++) r->storage.x[i * r->stride + j] *= 0.7;
}

typedef struct {
    double mean[SPARSE_D], sd[SPARSE_D];
    uint64_t hash;
} answer;

static void measure(rows *r, table_kind kind, answer *out)
{
    uint64_t pieces = 0;
    const row_pass how = {
        .r = r, .threads = 2, .before = kind == SCALED ? halve : NULL, .self = r};
    *out = (answer){0};
    CHECK(column_moments(&how, r->table.mean, r->table.sd, &pieces, NULL) == SBPS_OK);
    memcpy(out->mean, r->table.mean, r->d * sizeof *r->table.mean);
    memcpy(out->sd, r->table.sd, r->d * sizeof *r->table.sd);
    out->hash = hash_table(r, pieces);
}

typedef struct {
    size_t n;
    table_kind kind;
    answer alone, of[TEAM_MAX];
    size_t wrong[TEAM_MAX];
} trial;

static rows rows_for(table_kind kind, size_t first, size_t held)
{
    rows r = kind == SPARSE ? sparse_rows_of(first, held) : some_rows(first, held);
    if (kind == FLOATS) floats_from_doubles(&r);
    return r;
}

static void measure_on_ranks(ranks *among, void *self)
{
    trial *t = self;
    row_partition *ours;
    CHECK(partition_create(t->n, among, &ours, NULL) == SBPS_OK);
    size_t end = partition_begin(t->n, among->size, among->rank + 1);
    size_t reach = (end + HASH_ROWS - 1) / HASH_ROWS * HASH_ROWS;
    if (t->kind == SPARSE) reach = end;
    if (reach > t->n) reach = t->n;
    rows r = rows_for(t->kind, ours->first_row, reach - ours->first_row);
    r.partition = ours;
    r.local_rows = end - ours->first_row;
    measure(&r, t->kind, &t->of[among->rank]);
    partition_set_origin(&r);
    CHECK(ours->target_origin == cell_of(0, 0) - cell_of(0, 1));
    for (size_t i = 0; t->kind == SCALED && i < r.local_rows;
         i++) /* every row here was scaled once */
        t->wrong[among->rank] +=
            r.storage.x[i * r.stride] != 0.7 * cell_of(ours->first_row + i, 2);
    clear(&r);
}

static void compare(size_t n, table_kind kind, size_t size)
{
    trial t = {.n = n, .kind = kind};
    rows r = rows_for(kind, 0, n);
    measure(&r, kind, &t.alone);
    clear(&r);
    team_run(size, measure_on_ranks, &t);
    for (size_t i = 0; i < size; i++) {
        CHECK(memcmp(&t.of[i], &t.alone, sizeof t.alone) == 0);
        CHECK(t.wrong[i] == 0);
    }
}

TEST(dense_rows_with_boundaries_inside_pieces)
{
    static const size_t sizes[] = {1, 2, 4, 7};
    for (size_t k = 0; k < 4; k++) {
        compare(8192, DOUBLES, sizes[k]);
        compare(40001, DOUBLES, sizes[k]);
        compare(40001, FLOATS, sizes[k]);
        compare(40001, SCALED, sizes[k]);
    }
}

TEST(sparse_rows_with_any_number_of_entries)
{
    static const size_t sizes[] = {1, 2, 4, 7};
    for (size_t k = 0; k < 4; k++) compare(9001, SPARSE, sizes[k]);
}

CHECK_MAIN
