/* Moments and hash of all rows have the same bits on any number of threads. */
#include "table/column_moments.h"
#include "check.h"
#include "core/memory.h"
#include "table/content_hash.h"
#include "table/rows.h"

enum { D = 5, STRIDE = 8, MAX_ROWS = 50000 };

static char *names[D] = {"a", "b", "c", "d", "e"}, target[] = "y";

/* Columns of small and large numbers, far from 0 and near 0; the last one is constant. */
static rows table_of(size_t n)
{
    rows r = {.storage.kind = &storage_double,
              .local_rows = n,
              .d = D,
              .stride = STRIDE,
              .table.names = names,
              .table.target = target,
              .storage.x = new_doubles(n * STRIDE),
              .y = new_doubles(n),
              .table.mean = new_doubles(D),
              .table.sd = new_doubles(D)};
    uint64_t state = 1;
    for (size_t i = 0; r.storage.x && i < n; i++) {
        double *x = r.storage.x + i * STRIDE;
        for (size_t j = 0; j + 1 < D; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            x[j] = pow(1e3, (double)j) * (5.0 + (double)(state >> 11) * 0x1p-53);
        }
        x[D - 1] = 0.1;
    }
    return r;
}

static void clear(rows *r)
{
    free(r->storage.x);
    free(r->storage.x_float);
    free(r->y);
    free(r->table.mean);
    free(r->table.sd);
}

static void measure_moments(rows *r, unsigned threads)
{
    uint64_t pieces;
    const row_pass request = {.r = r, .threads = threads};
    REQUIRE(column_moments(&request, r->table.mean, r->table.sd, &pieces, NULL) == SBPS_OK);
    r->table.hash = hash_table(r, pieces);
}

static const size_t sizes[] = {1, 2, 1023, 1024, 1025, 16384, 16385, MAX_ROWS};

#define EACH_SIZE(k) (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)

TEST(moments_are_those_of_long_sums)
{
    for
        EACH_SIZE(k)
        {
            rows r = table_of(sizes[k]);
            measure_moments(&r, 1);
            for (size_t j = 0; j < D; j++) {
                long double sum = 0, square = 0, n = (long double)r.local_rows;
                for (size_t i = 0; i < r.local_rows; i++) sum += r.storage.x[i * STRIDE + j];
                for (size_t i = 0; i < r.local_rows; i++)
                    square += powl(r.storage.x[i * STRIDE + j] - sum / n, 2);
                CHECK_NEAR(r.table.mean[j], (double)(sum / n), TOL_ROUND);
                CHECK_NEAR(r.table.sd[j], (double)sqrtl(square / n), TOL_SUM);
            }
            CHECK(r.table.mean[D - 1] == 0.1 && r.table.sd[D - 1] == 0);
            clear(&r);
        }
}

TEST(any_number_of_threads_gives_the_same_bits)
{
    for
        EACH_SIZE(k)
    for (int single = 0; single < 2; single++) {
        rows r = table_of(sizes[k]);
        double mean[D], sd[D];
        if (single) floats_from_doubles(&r);
        measure_moments(&r, 1);
        uint64_t hash = r.table.hash;
        CHECK(hash == rows_hash(&r));
        memcpy(mean, r.table.mean, sizeof mean);
        memcpy(sd, r.table.sd, sizeof sd);
        for (unsigned threads = 2; threads <= 5; threads++) {
            measure_moments(&r, threads);
            CHECK(memcmp(mean, r.table.mean, sizeof mean) == 0);
            CHECK(memcmp(sd, r.table.sd, sizeof sd) == 0);
            CHECK(r.table.hash == hash);
        }
        clear(&r);
    }
}

TEST(the_hash_depends_on_every_number_and_its_position)
{
    rows r = table_of(MAX_ROWS);
    measure_moments(&r, 1);
    uint64_t hash = rows_hash(&r);
    for (size_t i = 0; i < MAX_ROWS; i += 4999) {
        double *cell = &r.storage.x[i * STRIDE + 2], kept = *cell;
        *cell = nextafter(kept, 0);
        CHECK(rows_hash(&r) != hash);
        *cell = kept;
    }
    size_t piece = HASH_ROWS * STRIDE; /* two pieces are exchanged */
    for (size_t i = 0; i < piece; i++) {
        double kept = r.storage.x[i];
        r.storage.x[i] = r.storage.x[piece + i];
        r.storage.x[piece + i] = kept;
    }
    CHECK(rows_hash(&r) != hash);
    clear(&r);
}

CHECK_MAIN
