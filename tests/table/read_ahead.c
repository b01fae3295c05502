/* Windows that are read past the page cache equal those of the mapped file, wherever they
 * begin. */
#include "table/read_ahead.h"
#include "check.h"
#include "core/rng.h"
#include "ingest/convert_text.h"
#include "ingest/fixture.h"
#include "table/mapped_table.h"
#include <fcntl.h>

#define N ((size_t)3000)

/* A table of N rows of 9 numbers, 12 with padding: blocks begin within rows. NULL on failure.
 * */
static rows *map_table(const char *storage)
{
    char table[600], *content = malloc(N * 120), *at = content;
    rng r = rng_stream(2, 0, RNG_TEST);
    at += sprintf(at, "y,a,b,c,d,e,f,g,h,i\n");
    for (size_t i = 0; i < N; i++) {
        at += sprintf(at, "%zu", i % 2);
        for (size_t j = 0; j < 9; j++) at += sprintf(at, ",%.6f", rng_normal(&r));
        at += sprintf(at, "\n");
    }
    const char *text = put("t.csv", content, (size_t)(at - content));
    free(content);
    snprintf(table, sizeof table, "%s/t.tbl", folder);
    table_job job = {.from = text, .to = table, .temp_near = table, .memory = (size_t)1 << 20};
    job.file = open(table, O_RDWR | O_CREAT | O_TRUNC, 0600);
    rows_spec spec = {.target = "y", .storage = storage, .seed = 1}, any = {.seed = 1};
    rows *out = NULL;
    if (table_write(&job, &spec, &error) == SBPS_OK) rows_read(table, &any, &out, &error);
    close(job.file);
    return out;
}

static const void *row_at(const rows *data, size_t row)
{
    return data->storage.x ? (const void *)(data->storage.x + row * data->stride)
                           : data->storage.x_float + row * data->stride;
}

static size_t row_bytes(const rows *data)
{
    return data->stride *
           (data->storage.x ? sizeof *data->storage.x : sizeof *data->storage.x_float);
}

/* Every window of `take` rows that does not wrap, `step` apart, requested `depth` ahead. */
static void check_windows(const rows *data, row_reader *r, size_t take, size_t step)
{
    size_t depth = reader_depth(data, take), last = (N - take) / step, requested = 0;
    for (size_t k = 0; k <= last; k++) {
        for (; requested <= last && requested < k + depth; requested++)
            reader_request(r, requested * step);
        reader_next(r);
        row_range range = {NULL, k * step, take};
        const rows *seen = reader_rows(r, data, &range);
        CHECK(seen != data);
        CHECK(
            !memcmp(row_at(seen, range.first), row_at(data, k * step), take * row_bytes(data)));
    }
}

TEST(a_window_holds_the_rows_of_the_map)
{
    const char *const storages[] = {"double", "float"};
    const size_t takes[] = {1, 4, 37, 1000, N};
    for (size_t s = 0; s < 2; s++) {
        rows *data = map_table(storages[s]);
        REQUIRE(data && data->storage.mapped);
        for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
            row_reader *r = reader_take(data, takes[i]);
            if (!r) {
                rows_destroy(data);
                SKIP("no direct reads here");
            }
            check_windows(data, r, takes[i], 1 + i);
            reader_give(data, r);
        }
        rows_destroy(data);
    }
}

/* Fewer large windows are requested ahead, so that a ring stays within some megabytes. */
TEST(a_ring_of_large_windows_is_short)
{
    rows *data = map_table("double");
    REQUIRE(data);
    size_t before = reader_depth(data, 1);
    CHECK(before == 256);
    for (size_t n = 1; n < (size_t)1 << 30; n *= 2) {
        size_t depth = reader_depth(data, n);
        CHECK(depth >= 1 && depth <= before);
        CHECK(depth == 1 || depth * n * row_bytes(data) <= (size_t)8 << 20);
        before = depth;
    }
    rows_destroy(data);
}

/* The next user of the reader has requested nothing: rows come from the map until then. */
TEST(a_released_reader_has_no_windows)
{
    rows *data = map_table("double");
    REQUIRE(data);
    CHECK(!reader_known(data));
    row_reader *r = reader_take(data, 10);
    if (!r) {
        rows_destroy(data);
        SKIP("no direct reads here");
    }
    CHECK(reader_known(data));
    size_t first = 0;
    for (size_t k = 0; k <= reader_depth(data, 10); k++) {
        reader_request(r, first = 10 * k);
        reader_next(r);
    }
    row_range range = {NULL, first, 10};
    CHECK(reader_rows(r, data, &range) != data);
    reader_give(data, r);
    CHECK(reader_take(data, 10) == r);
    range = (row_range){NULL, first, 10};
    CHECK(reader_rows(r, data, &range) == data && range.first == first);
    row_reader *other = reader_take(data, 10);
    CHECK(other != r);
    rows_destroy(data);
}

CHECK_MAIN
