/* Places of rows in memory: a uniform random permutation, the same on any number of threads. */
#include "table/row_origin.h"
#include "check.h"

#include <stdint.h>

static const size_t MANY = 70001; /* scattered to buckets */

TEST(any_number_of_threads_gives_the_same_permutation)
{
    static const size_t sizes[] = {1, 2, 1000, 65536, 65537, 300001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k], *first = shuffled_places(7, n, 1);
        unsigned char *used = calloc(n, 1);
        REQUIRE(first && used);
        for (size_t i = 0; i < n; i++) CHECK(first[i] < n && used[first[i]]++ == 0);
        for (unsigned threads = 2; threads <= 5; threads++) {
            size_t *other = shuffled_places(7, n, threads);
            REQUIRE(other);
            CHECK(memcmp(first, other, n * sizeof *first) == 0);
            free(other);
        }
        free(first);
        free(used);
    }
}

/* The places of ten distant rows, in tenths of the table, over many seeds: chi^2 with 90
 * degrees of freedom. */
TEST(every_place_of_a_row_is_equally_likely)
{
    const size_t seeds = (size_t)check_size(300, 3000, 3000);
    double count[10][10] = {{0}}, chi2 = 0.0, expected = (double)seeds / 10;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        size_t *to = shuffled_places(seed, MANY, 2);
        REQUIRE(to);
        for (size_t k = 0; k < 10; k++) count[k][to[k * (MANY / 10)] * 10 / MANY]++;
        free(to);
    }
    for (size_t a = 0; a < 10; a++)
        for (size_t b = 0; b < 10; b++)
            chi2 += (count[a][b] - expected) * (count[a][b] - expected) / expected;
    CHECK_Z(chi2, 90, sqrt(180), MAX_Z);
}

/* Either of two neighbours comes first with probability 1/2; n/2 disjoint pairs are nearly
 * independent. The number of fixed points is nearly Poisson with mean 1. */
TEST(neighbours_are_separated_at_random)
{
    const size_t seeds = (size_t)check_size(200, 2000, 2000), pairs = MANY / 2;
    double in_order = 0, fixed = 0, n = (double)(pairs * seeds);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        size_t *to = shuffled_places(seed, MANY, 2);
        REQUIRE(to);
        for (size_t i = 0; i < pairs; i++) in_order += to[2 * i] < to[2 * i + 1];
        for (size_t i = 0; i < MANY; i++) fixed += to[i] == i;
        free(to);
    }
    CHECK_Z(in_order, n / 2, sqrt(n / 4), MAX_Z);
    CHECK_Z(fixed, (double)seeds, sqrt((double)seeds), MAX_Z);
}

TEST(sources_are_the_inverse_of_places)
{
    static const size_t sizes[] = {1, 2, 1000, 65536, 65537, 300001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k], *to = shuffled_places(7, n, 1);
        uint32_t *from = shuffled_sources(7, n, 1 + (unsigned)k % 3);
        REQUIRE(to && from);
        size_t wrong = 0;
        for (size_t i = 0; i < n; i++) wrong += from[to[i]] != i;
        CHECK(wrong == 0);
        free(to);
        free(from);
    }
}

/* rows_origin is the inverse. */
TEST(rows_origin_inverts_the_permutation)
{
    const rows data = {.local_rows = MANY, .table.seed = 3};
    size_t *to = shuffled_places(data.table.seed, MANY, 3), origin;
    REQUIRE(to);
    for (size_t i = 0; i < MANY; i += 9973)
        CHECK(rows_origin(&data, to[i], &origin, NULL) == SBPS_OK && origin == i);
    free(to);
}

CHECK_MAIN
