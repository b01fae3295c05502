/* Compares a distributed read, by ranks that are threads, with reading the whole text and then
 * distributing the rows. Include after check.h. */
#ifndef TESTS_INGEST_DISTRIBUTED_FIXTURE_H
#define TESTS_INGEST_DISTRIBUTED_FIXTURE_H

#include "ingest/fixture.h"
#include "ranks_by_threads.h"
#include "table/row_partition.h"

static const size_t teams[] = {3, 7};
#define TEAMS (sizeof teams / sizeof *teams)

typedef struct {
    const char *path;
    rows_spec spec;
    bool distributed; /* it can be read in stretches */
    bool either;      /* it may or may not be distributed */
    size_t wrong[TEAM_MAX];
} trial;

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return (!a && !b) || (a && b && memcmp(a, b, size) == 0);
}

static bool same_entries(const rows *a, const rows *b)
{
    if (!a->storage.start || !b->storage.start) return !a->storage.start && !b->storage.start;
    return same_bytes(a->storage.start, b->storage.start,
                      (a->local_rows + 1) * sizeof *a->storage.start) &&
           same_bytes(a->storage.column, b->storage.column,
                      a->storage.start[a->local_rows] * sizeof *a->storage.column) &&
           same_bytes(a->storage.value, b->storage.value,
                      a->storage.start[a->local_rows] * sizeof *a->storage.value);
}

static bool same_partition(const row_partition *a, const row_partition *b)
{
    return a && b && a->first_row == b->first_row && a->total_rows == b->total_rows &&
           a->min_local_rows == b->min_local_rows && a->target_origin == b->target_origin;
}

static bool same_table(const rows *a, const rows *b)
{
    bool same = same_rows(a, b) && a->storage.kind == b->storage.kind && same_entries(a, b) &&
                same_bytes(a->storage.x_float, b->storage.x_float,
                           a->local_rows * a->stride * sizeof(float)) &&
                same_text(a->table.notes, b->table.notes) &&
                same_text(a->table.design, b->table.design) &&
                same_text(a->table.source, b->table.source) &&
                a->table.dropped == b->table.dropped && a->table.seed == b->table.seed &&
                a->table.in_order == b->table.in_order &&
                a->table.label_count == b->table.label_count &&
                same_partition(a->partition, b->partition);
    for (size_t k = 0; same && k < a->table.label_count; k++)
        same = same_text(a->table.labels[k], b->table.labels[k]);
    return same;
}

/* Reads the whole text and keeps this rank's part. */
static void read_whole(const trial *t, ranks *among, rows **out, sbps_error *err)
{
    rows_spec spec = t->spec;
    spec.part_bytes = 0;
    if (rows_read(t->path, &spec, out, err) != SBPS_OK) return;
    if (rows_distribute(*out, among, err) == SBPS_OK) return;
    rows_destroy(*out);
    *out = NULL;
}

static void read_both(ranks *among, void *self)
{
    trial *t = self;
    rows *whole = NULL, *ours = NULL;
    sbps_error expected = {0}, got = {0};
    rows_spec spec = t->spec;
    spec.among = among;
    spec.distribute_min_bytes = 1;
    read_whole(t, among, &whole, &expected);
    rows_read(t->path, &spec, &ours, &got);
    bool alone = ours && !ours->partition; /* not distributed: the rank has the whole table */
    if (alone) rows_distribute(ours, among, &got);
    bool same = ours && whole ? same_table(ours, whole)
                              : !ours && !whole && same_text(got.text, expected.text);
    if (!same)
        printf("rank %zu of %zu: got '%s', expected '%s'\n", among->rank, among->size,
               ours ? "a table" : got.text, whole ? "a table" : expected.text);
    bool otherwise = ours && alone == t->distributed && !t->either;
    if (otherwise) printf("%s\n", alone ? "read whole" : "read in shares");
    t->wrong[among->rank] = !same || otherwise;
    rows_destroy(whole);
    rows_destroy(ours);
}

static void check_path(const char *path, rows_spec spec, bool distributed)
{
    for (size_t k = 0; k < TEAMS; k++) {
        trial t = {.path = path, .spec = spec, .distributed = distributed};
        t.spec.seed = 5;
        t.spec.threads = 2 - (unsigned)k;
        t.spec.part_bytes = k > 0 ? 3000 : 0;
        team_run(teams[k], read_both, &t);
        for (size_t r = 0; r < teams[k]; r++) CHECK(t.wrong[r] == 0);
    }
}

#endif
