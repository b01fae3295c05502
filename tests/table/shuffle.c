/* The shuffle on disk is a uniform permutation that does not depend on the memory. */
#include "table/shuffle.h"
#include "check.h"
#include "core/rng.h"
#include "ingest/fixture.h"

#define MIN_MEMORY ((size_t)128 * 4096)
#define WIDEST     ((size_t)1500)

typedef struct {
    size_t *order; /* first number of each row, in the order they came */
    size_t count, limit;
    size_t width; /* 0: of each row its own */
    bool whole;   /* all numbers of every row are together */
} taken;

/* Mostly a few numbers, sometimes more than a block holds with the least memory. */
static size_t own_width(size_t i)
{
    return i % 1000 == 7 ? WIDEST : 1 + i % 5;
}

static bool take(void *self, const double *row)
{
    taken *t = self;
    if (t->count == t->limit) return false;
    size_t width = t->width ? t->width : own_width((size_t)row[0]);
    for (size_t j = 1; j < width; j++) t->whole = t->whole && row[j] == row[0] + (double)j;
    t->order[t->count++] = (size_t)row[0];
    return true;
}

/* The shuffled order of n rows of `width` numbers (0: own_width); row i is i, i + 1, ... */
static taken shuffled(size_t n, size_t width, uint64_t seed, size_t memory)
{
    char output_path[600];
    shuffle *s = NULL;
    bool all = false;
    double row[WIDEST];
    taken t = {
        .order = calloc(n + 1, sizeof(size_t)), .limit = n, .width = width, .whole = true};
    snprintf(output_path, sizeof output_path, "%s/out", folder);
    memset(&error, 0, sizeof error);
    sbps_status status = shuffle_create(output_path, width, seed, memory, &s, &error);
    for (size_t i = 0; status == SBPS_OK && i < n; i++) {
        size_t count = width ? width : own_width(i);
        for (size_t j = 0; j < count; j++) row[j] = (double)(i + j);
        status = shuffle_add(s, row, count, &error);
    }
    if (status == SBPS_OK) status = shuffle_drain(s, take, &t, &all, &error);
    CHECK(status == SBPS_OK && all && t.count == n && t.whole);
    shuffle_destroy(s);
    return t;
}

/* 120 orders of five rows over 24000 seeds: chi^2 with 119 degrees of freedom, mean 119, variance
 * 238; the limit is MAX_Z of its standard deviations. */
TEST(every_order_is_equally_likely)
{
    const size_t seeds = 24000;
    double count[5 * 5 * 5 * 5 * 5] = {0}, chi2 = 0.0;
    size_t seen = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        taken t = shuffled(5, 1, seed, MIN_MEMORY);
        size_t code = 0;
        for (size_t i = 0; i < 5; i++) code = 5 * code + t.order[i];
        count[code]++;
        free(t.order);
    }
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        if (count[k] == 0) continue;
        double expected = (double)seeds / 120;
        seen++;
        chi2 += (count[k] - expected) * (count[k] - expected) / expected;
    }
    CHECK(seen == 120);
    CHECK_Z(chi2, 119, sqrt(238), MAX_Z);
}

/* Tenths of the source against tenths of the output, through the temporary file: the 81 degrees of
 * freedom of a table with fixed margins. */
TEST(a_large_shuffle_is_uniform)
{
    const size_t n = 100000;
    double count[10][10] = {{0}}, chi2 = 0.0, expected = (double)n / 100;
    taken t = shuffled(n, 8, 3, MIN_MEMORY);
    for (size_t i = 0; i < n; i++) count[t.order[i] * 10 / n][i * 10 / n]++;
    for (size_t a = 0; a < 10; a++)
        for (size_t b = 0; b < 10; b++)
            chi2 += (count[a][b] - expected) * (count[a][b] - expected) / expected;
    CHECK_Z(chi2, 81, sqrt(162), MAX_Z);
    free(t.order);
}

/* Little memory: buckets of 60 numbers a row are too large and are scattered a second time. */
TEST(the_order_does_not_depend_on_the_memory)
{
    const size_t n = 200000, width = 60;
    const size_t memories[] = {MIN_MEMORY, (size_t)4 << 20, (size_t)1 << 30};
    taken first = shuffled(n, width, 9, memories[0]);
    unsigned char *used = calloc(n, 1);
    for (size_t i = 0; i < n; i++) CHECK(used[first.order[i]]++ == 0);
    for (size_t m = 1; m < sizeof memories / sizeof *memories; m++) {
        taken other = shuffled(n, width, 9, memories[m]);
        CHECK(memcmp(first.order, other.order, n * sizeof *first.order) == 0);
        free(other.order);
    }
    taken seeded = shuffled(n, width, 10, memories[2]);
    CHECK(memcmp(first.order, seeded.order, n * sizeof *first.order) != 0);
    free(seeded.order);
    free(first.order);
    free(used);
}

/* Rows of many lengths stay whole, in the order of rows of one length. */
TEST(the_order_does_not_depend_on_the_lengths)
{
    const size_t n = 100000, memories[] = {MIN_MEMORY, (size_t)1 << 30};
    taken alike = shuffled(n, 8, 9, MIN_MEMORY);
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
        taken other = shuffled(n, 0, 9, memories[m]);
        CHECK(memcmp(alike.order, other.order, n * sizeof *alike.order) == 0);
        free(other.order);
    }
    free(alike.order);
}

TEST(no_file_is_left)
{
    char command[700];
    taken t = shuffled(50000, 20, 1, MIN_MEMORY);
    free(t.order);
    snprintf(command, sizeof command, "test -z \"$(ls -A %s)\"", folder);
    CHECK(system(command) == 0);
}

TEST(too_little_memory_is_an_error)
{
    shuffle *s;
    CHECK(shuffle_create("x", 3, 1, 1000, &s, &error) == SBPS_BAD_ARG && !s);
    CHECK(strstr(error.text, "at least 524288 are needed"));
    CHECK(shuffle_create("x", 100000, 1, MIN_MEMORY, &s, &error) == SBPS_BAD_ARG && !s);
}

TEST(a_missing_folder_is_an_error)
{
    shuffle *s;
    double row[60] = {0};
    sbps_status status = shuffle_create("/none/out", 60, 1, MIN_MEMORY, &s, &error);
    for (size_t i = 0; status == SBPS_OK && i < 100000; i++)
        status = shuffle_add(s, row, 60, &error);
    CHECK(status == SBPS_NO_FILE);
    CHECK(strstr(error.text,
                 "/none/out: the temporary file in its folder cannot be created: No such"));
    shuffle_destroy(s);
}

CHECK_MAIN
