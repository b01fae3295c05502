/* Sums over rows: every row is added once, in order, in blocks within their limit, and in parts
 * whose bits do not depend on the thread. */
#include "table/row_sums.h"
#include "check.h"

#include <math.h>

#define MAX_ROWS ((size_t)3 * PART_ROWS)

static double value_of(size_t i)
{
    return sin((double)i) * exp2((double)(i % 40));
}

/* total[0]: the sum; total[1]: rows; total[2]: blocks that are too long or not in order. */
typedef struct {
    size_t *next;
} walk;

static void add(const void *self, row_range r, double *scratch, double *total)
{
    const walk *w = self;
    scratch[0] = 0.0;
    if (r.list || r.n > ROW_BLOCK || r.n == 0 || r.first != *w->next) total[2] += 1.0;
    for (size_t i = 0; i < r.n; i++) {
        scratch[0] += value_of(r.first + i);
        total[1] += 1.0;
    }
    total[0] += scratch[0];
    *w->next = r.first + r.n;
}

/* The same computed here: blocks are added to parts, parts to the sum. */
static double by_hand(size_t n)
{
    double sum = 0.0;
    for (size_t first = 0; first < n; first += PART_ROWS) {
        double part = 0.0;
        for (size_t i = first; i < n && i < first + PART_ROWS;) {
            double block = 0.0;
            for (size_t end = i + ROW_BLOCK; i < n && i < end; i++) block += value_of(i);
            part += block;
        }
        sum += part;
    }
    return sum;
}

TEST(every_row_is_added_once_in_blocks_and_parts_of_fixed_size)
{
    const size_t sizes[] = {1,         ROW_BLOCK - 1, ROW_BLOCK,     ROW_BLOCK + 1,
                            PART_ROWS, PART_ROWS + 1, 2 * PART_ROWS, MAX_ROWS - 7};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t next = 0;
        const walk w = {&next};
        const row_sum what = {.self = &w, .width = 3, .scratch = 1, .add = add};
        const rows data = {.local_rows = sizes[k]};
        double total[3] = {0};
        REQUIRE(row_sums(&data, &what, total, NULL) == SBPS_OK);
        CHECK(total[0] == by_hand(sizes[k])); /* bit for bit */
        CHECK(total[1] == (double)sizes[k] && total[2] == 0.0);
    }
}

static void add_values(const void *self, row_range r, double *scratch, double *total)
{
    (void)self;
    scratch[0] = 0.0;
    for (size_t i = 0; i < r.n; i++) scratch[0] += value_of(r.first + i);
    total[0] += scratch[0];
    total[1] += (double)r.n;
}

/* Bit for bit, and every row is counted. */
TEST(any_number_of_threads_makes_the_same_sum)
{
    const unsigned threads[] = {1, 2, 3, 7, 16};
    const size_t n = MAX_ROWS * 9 - 7;
    const row_sum what = {.width = 2, .scratch = 1, .add = add_values};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        struct row_workers row_threads = {.threads = threads[k]};
        const rows data = {.local_rows = n, .workers = &row_threads};
        double total[2] = {0};
        REQUIRE(row_sums(&data, &what, total, NULL) == SBPS_OK);
        CHECK(total[0] == by_hand(n) && total[1] == (double)n);
        CHECK(atomic_load(&row_threads.visited) == n);
    }
}

static void largest(const void *self, row_range r, double *scratch, double *total)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++) total[0] = fmax(total[0], -1.0 - (double)(r.first + i));
}

static void larger_of(double *total, const double *part)
{
    total[0] = fmax(total[0], part[0]);
}

/* A part that began at 0 would be the largest. */
TEST(parts_begin_and_merge_as_requested)
{
    const double lowest = -INFINITY;
    const row_sum what = {.width = 1, .add = largest, .begin = &lowest, .merge = larger_of};
    const rows data = {.local_rows = MAX_ROWS};
    double total = lowest;
    REQUIRE(row_sums(&data, &what, &total, NULL) == SBPS_OK);
    CHECK(total == -1.0);
}

static void visit(const void *self, row_range r, double *scratch, double *total)
{
    unsigned char *seen = *(unsigned char *const *)self;
    (void)scratch, (void)total;
    for (size_t i = 0; i < r.n; i++) seen[r.first + i]++;
}

TEST(rows_can_be_visited_without_a_sum)
{
    unsigned char *seen = calloc(MAX_ROWS, 1);
    size_t once = 0;
    REQUIRE(seen);
    const row_sum what = {.self = &seen, .add = visit};
    const rows data = {.local_rows = MAX_ROWS - 3};
    REQUIRE(row_sums(&data, &what, NULL, NULL) == SBPS_OK);
    for (size_t i = 0; i < MAX_ROWS; i++) once += seen[i] == (i < data.local_rows);
    CHECK(once == MAX_ROWS);
    free(seen);
}

CHECK_MAIN
