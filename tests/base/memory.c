/* Aligned blocks and arenas. */
#include "base/memory.h"

#include "check.h"

#include <stdint.h>

typedef struct {
    double *x, *v;
    unsigned char *bytes;
} carved;

static carved carve(arena *memory)
{
    carved parts;
    parts.x = arena_doubles(memory, 3);
    parts.bytes = arena_take(memory, 65);
    parts.v = arena_doubles(memory, 8);
    return parts;
}

static bool aligned(const void *block)
{
    return (uintptr_t)block % CACHE_LINE == 0;
}

/* Leaves used memory for the next block to be made of. */
static void soil_the_heap(void)
{
    enum { BYTES = 1 << 16 };
    unsigned char *volatile block = malloc(BYTES);
    if (block) memset(block, 0xff, BYTES);
    free(block);
}

TEST(blocks_are_aligned_and_zeroed)
{
    for (size_t bytes = 0; bytes < 5000; bytes += 77) {
        soil_the_heap();
        unsigned char *block = aligned_zeroed(bytes);
        REQUIRE(block != NULL);
        CHECK(aligned(block));
        for (size_t i = 0; i < bytes; i++) CHECK(block[i] == 0);
        free(block);
    }
    double *doubles = new_doubles(17);
    REQUIRE(doubles != NULL);
    CHECK(aligned(doubles) && doubles[0] == 0 && doubles[16] == 0);
    free(doubles);
}

/* Tables: from 16 MiB on, in pages of 2 MiB. */
TEST(large_blocks_are_whole_huge_pages)
{
    const size_t page = (size_t)2 << 20, bytes = 8 * page + 1;
    unsigned char *block = aligned_zeroed(bytes);
    REQUIRE(block != NULL);
    CHECK((uintptr_t)block % page == 0);
    for (size_t i = 0; i < bytes; i += 4096) CHECK(block[i] == 0);
    free(block);
}

TEST(sizes_that_overflow_are_refused)
{
    volatile size_t most = SIZE_MAX; /* so that the compiler does not see through it */
    CHECK(aligned_zeroed(most) == NULL);
    CHECK(aligned_zeroed(most - 64) == NULL);
    CHECK(new_doubles(most / 8 + 2) == NULL);
    CHECK(new_doubles(most / 4) == NULL);
}

TEST(carving_counts_the_same_bytes_twice)
{
    arena count = {0};
    carved parts = carve(&count);
    CHECK(parts.x == NULL && parts.v == NULL && parts.bytes == NULL);
    CHECK(count.used >= 3 * 8 + 65 + 8 * 8);

    arena memory = {aligned_zeroed(count.used), count.used, 0};
    REQUIRE(memory.base != NULL);
    parts = carve(&memory);
    CHECK(memory.used == count.used);
    CHECK(aligned(parts.x) && aligned(parts.v) && aligned(parts.bytes));
    free(memory.base);
}

TEST(carved_parts_do_not_overlap)
{
    arena count = {0};
    carve(&count);
    arena memory = {aligned_zeroed(count.used), count.used, 0};
    REQUIRE(memory.base != NULL);
    carved parts = carve(&memory);
    memset(parts.x, 1, 3 * sizeof(double));
    memset(parts.bytes, 2, 65);
    memset(parts.v, 3, 8 * sizeof(double));
    CHECK(((unsigned char *)parts.x)[23] == 1);
    CHECK(parts.bytes[0] == 2 && parts.bytes[64] == 2);
    CHECK((unsigned char *)(parts.v + 8) <= memory.base + memory.size);
    free(memory.base);
}

TEST(counting_past_the_end_of_memory_saturates)
{
    arena count = {0};
    arena_doubles(&count, 10);
    arena_doubles(&count, SIZE_MAX / 4);
    CHECK(count.used == SIZE_MAX);
    arena_take(&count, 1);
    CHECK(count.used == SIZE_MAX);
}

CHECK_MAIN
