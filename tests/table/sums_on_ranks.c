/* Sums over rows that are distributed over ranks have the bits of one process, wherever the
 * boundaries are. */
#include "check.h"
#include "core/memory.h"
#include "core/rng.h"
#include "ranks_by_threads.h"
#include "table/row_partition.h"
#include "table/row_sums.h"

#define TEAMS ((size_t)5)
static const size_t teams[TEAMS] = {1, 2, 3, 4, 7};

/* Targets of all sizes: adding them in another order gives other bits. */
static rows *some_rows(size_t n)
{
    rows *r = calloc(1, sizeof *r);
    rng random = rng_stream(1, 0, RNG_TEST);
    *r = (rows){
        .storage.kind = &storage_double, .local_rows = n, .d = 1, .stride = KERNEL_LANES};
    r->storage.x = new_doubles(n * r->stride);
    r->y = new_doubles(n);
    r->offset = new_doubles(n);
    for (size_t i = 0; i < n; i++) {
        r->y[i] = ldexp(rng_normal(&random), (int)rng_below(&random, 40));
        r->offset[i] = (double)i;
        r->storage.x[i * r->stride] = 0.5 * r->y[i];
    }
    return r;
}

static void add_all(const void *self, row_range r, double *scratch, double *total)
{
    const rows *data = self;
    for (size_t i = r.first; i < r.first + r.n; i++) {
        scratch[0] = data->y[i];
        total[0] += scratch[0];
        total[1] += data->y[i] * data->y[i];
        total[2] += data->storage.x[i * data->stride];
    }
}

/* The largest, and a sum. */
static void add_largest(const void *self, row_range r, double *scratch, double *total)
{
    const rows *data = self;
    (void)scratch;
    for (size_t i = r.first; i < r.first + r.n; i++) {
        total[0] = fmax(total[0], data->y[i]);
        total[1] += data->y[i];
    }
}

static void merge_largest(double *total, const double *part)
{
    total[0] = fmax(total[0], part[0]);
    total[1] += part[1];
}

static const double lowest[2] = {-INFINITY, 0.0};

static void go_on(const rows *data, double *state)
{
    for (size_t i = 0; i < data->local_rows; i++) state[0] = 0.9 * state[0] + data->y[i];
}

typedef struct {
    double plain[3], largest[2], relay, rows_seen;
} answers;

static void compute_answers(const rows *data, answers *out)
{
    struct row_workers row_threads = {.threads = 2};
    rows with = *data;
    with.workers = &row_threads;
    row_sum plain = {.self = &with, .width = 3, .scratch = 1, .add = add_all};
    row_sum largest = {
        .self = &with, .width = 2, .add = add_largest, .begin = lowest, .merge = merge_largest};
    *out = (answers){.plain = {1e-3, 2.0, 3.0}, .largest = {-INFINITY, 0.5}, .relay = 1.0};
    CHECK(row_sums(&with, &plain, out->plain, NULL) == SBPS_OK);
    CHECK(row_sums(&with, &largest, out->largest, NULL) == SBPS_OK);
    row_relay(&with, go_on, &out->relay, 1);
    out->rows_seen = sum_over_ranks(&with, (double)atomic_load(&row_threads.visited));
}

typedef struct {
    size_t n;
    answers alone, of[TEAM_MAX];
} trial;

static void compute_on_ranks(ranks *among, void *self)
{
    trial *t = self;
    rows *r = some_rows(t->n);
    CHECK(rows_distribute(r, among, NULL) == SBPS_OK);
    compute_answers(r, &t->of[among->rank]);
    rows_destroy(r);
}

static void compare(size_t n)
{
    trial t = {.n = n};
    rows *r = some_rows(n);
    compute_answers(r, &t.alone);
    rows_destroy(r);
    for (size_t k = 0; k < TEAMS; k++) {
        team_run(teams[k], compute_on_ranks, &t);
        for (size_t i = 0; i < teams[k]; i++)
            CHECK(memcmp(&t.of[i], &t.alone, sizeof t.alone) == 0);
    }
}

TEST(boundaries_inside_parts_give_the_bits_of_one_process)
{
    compare(7168);
}

TEST(boundaries_between_blocks_give_the_bits_of_one_process)
{
    compare(40000);
    compare(16384 * 3 + 17);
}

TEST(boundaries_between_parts_give_the_bits_of_one_process)
{
    size_t n = 16 * 16384 * 3 + 5;
    CHECK(partition_begin(n, 3, 1) % PART_ROWS == 0);
    compare(n);
}

/* So wide that a rank cannot keep its parts until they are added. */
#define WIDE ((size_t)600000)

static void add_wide(const void *self, row_range r, double *scratch, double *total)
{
    const rows *data = self;
    (void)scratch;
    for (size_t i = r.first; i < r.first + r.n; i++) {
        total[0] += data->y[i];
        total[WIDE - 1] -= 3.0 * data->y[i];
    }
}

static void sum_wide(const rows *data, double *ends)
{
    double *total = new_doubles(WIDE);
    const row_sum what = {.self = data, .width = WIDE, .add = add_wide};
    CHECK(row_sums(data, &what, total, NULL) == SBPS_OK);
    ends[0] = total[0];
    ends[1] = total[WIDE - 1];
    free(total);
}

typedef struct {
    double of[TEAM_MAX][2];
} wide_ends;

#define WIDE_ROWS ((size_t)(34 * 16384 + 700))

static void sum_wide_together(ranks *among, void *self)
{
    wide_ends *ends = self;
    rows *r = some_rows(WIDE_ROWS);
    CHECK(rows_distribute(r, among, NULL) == SBPS_OK);
    sum_wide(r, ends->of[among->rank]);
    rows_destroy(r);
}

TEST(sums_too_wide_to_be_kept_have_the_same_bits)
{
    double alone[2];
    wide_ends ends;
    rows *r = some_rows(WIDE_ROWS);
    sum_wide(r, alone);
    rows_destroy(r);
    team_run(2, sum_wide_together, &ends);
    CHECK(memcmp(ends.of[0], alone, sizeof alone) == 0);
    CHECK(memcmp(ends.of[1], alone, sizeof alone) == 0);
}

/* Sums that stop early are correct, and the same on every rank. */
static void any_row(ranks *among, void *self)
{
    trial *t = self;
    struct row_workers row_threads = {.threads = 1, .hurried = true};
    rows *r = some_rows(t->n);
    answers *out = &t->of[among->rank];
    CHECK(rows_distribute(r, among, NULL) == SBPS_OK);
    r->workers = &row_threads;
    const row_sum plain = {.self = r, .width = 3, .scratch = 1, .add = add_all};
    const row_sum largest = {
        .self = r, .width = 2, .add = add_largest, .begin = lowest, .merge = merge_largest};
    *out = (answers){.plain = {1e-3, 2.0, 3.0}, .largest = {-INFINITY, 0.5}};
    CHECK(row_sums(r, &plain, out->plain, NULL) == SBPS_OK);
    CHECK(row_sums(r, &largest, out->largest, NULL) == SBPS_OK);
    r->workers = NULL;
    rows_destroy(r);
}

TEST(sums_that_stop_early_are_the_same_on_every_rank)
{
    trial t = {.n = 50000};
    rows *r = some_rows(t.n);
    compute_answers(r, &t.alone);
    rows_destroy(r);
    team_run(4, any_row, &t);
    double scale = sqrt(t.alone.plain[1]);
    CHECK(fabs(t.of[0].plain[0] - t.alone.plain[0]) < TOL_SUM * scale);
    CHECK(fabs(t.of[0].plain[1] - t.alone.plain[1]) < TOL_SUM * t.alone.plain[1]);
    CHECK(t.of[0].largest[0] == t.alone.largest[0]);
    for (size_t i = 1; i < 4; i++) CHECK(memcmp(&t.of[i], &t.of[0], sizeof t.of[0]) == 0);
}

/* Every row is on one rank, and ranks have similar numbers of rows. */
TEST(the_partition_covers_the_table)
{
    static const size_t sizes[] = {4096, 10000, 123457, 1000000, 10000019};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t ranks_of = 1; ranks_of <= 64 && sizes[s] / ranks_of >= 4096; ranks_of++) {
            double fraction = (double)sizes[s] / (double)ranks_of;
            CHECK(partition_begin(sizes[s], ranks_of, 0) == 0);
            CHECK(partition_begin(sizes[s], ranks_of, ranks_of) == sizes[s]);
            for (size_t i = 0; i < ranks_of; i++) {
                size_t from = partition_begin(sizes[s], ranks_of, i);
                size_t own = partition_begin(sizes[s], ranks_of, i + 1) - from;
                CHECK(from % ROW_BLOCK == 0);
                CHECK((double)own <= fraction + ROW_BLOCK || (double)own <= 1.07 * fraction);
            }
        }
}

static void partition_few(ranks *among, void *self)
{
    rows *r = some_rows(1500);
    sbps_error *err = self;
    CHECK(rows_distribute(r, among, &err[among->rank]) == SBPS_BAD_ARG);
    rows_destroy(r);
}

TEST(too_few_rows_are_refused)
{
    sbps_error err[TEAM_MAX] = {0};
    team_run(2, partition_few, err);
    CHECK(strstr(err[1].text, "1500 rows are too few for 2 ranks"));
}

/* Sparse rows: the entries of a rank are those of its rows. */
static void partition_sparse(ranks *among, void *self)
{
    size_t n = 5000, *wrong = self;
    rows *r = calloc(1, sizeof *r);
    *r = (rows){
        .storage.kind = &storage_sparse, .local_rows = n, .d = 3, .stride = KERNEL_LANES};
    r->y = new_doubles(n);
    r->storage.start = calloc(n + 1, sizeof *r->storage.start);
    r->storage.column = calloc(2 * n, sizeof *r->storage.column);
    r->storage.value = calloc(2 * n, sizeof *r->storage.value);
    for (size_t i = 0; i < n; i++) {
        size_t count = i % 3;
        r->storage.start[i + 1] = r->storage.start[i] + count;
        for (size_t k = 0; k < count; k++) {
            r->storage.column[r->storage.start[i] + k] = (uint32_t)k;
            r->storage.value[r->storage.start[i] + k] = (double)i + 0.5;
        }
    }
    CHECK(rows_distribute(r, among, NULL) == SBPS_OK);
    for (size_t i = 0; i < r->local_rows; i++) {
        size_t from = i + r->partition->first_row;
        double want = from % 3 > 1 ? (double)from + 0.5 : 0.0;
        wrong[among->rank] += r->storage.kind->cell(r, i, 1) != want;
    }
    CHECK(rows_numbers(r) > 1.9 && rows_numbers(r) < 2.1);
    rows_destroy(r);
}

TEST(sparse_rows_are_partitioned)
{
    size_t wrong[TEAM_MAX] = {0};
    team_run(4, partition_sparse, wrong);
    for (size_t i = 0; i < 4; i++) CHECK(wrong[i] == 0);
}

CHECK_MAIN
