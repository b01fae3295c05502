/* Aligned blocks and arenas. */
#include "core/memory.h"

#include "check.h"

#include <ftw.h>
#include <math.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

/* Leaves nonzero bytes in freed memory, which the next block may reuse. */
static void fill_freed_memory(void)
{
    enum { BYTES = 1 << 16 };
    unsigned char *volatile block = malloc(BYTES);
    if (block) memset(block, 0xff, BYTES);
    free(block);
}

TEST(blocks_are_aligned_and_zeroed)
{
    for (size_t bytes = 0; bytes < 5000; bytes += 77) {
        fill_freed_memory();
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

/* Blocks of 16 MiB and more, as of tables, are in pages of 2 MiB. */
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
    volatile size_t largest = SIZE_MAX; /* volatile: the compiler must not evaluate it */
    CHECK(aligned_zeroed(largest) == NULL);
    CHECK(aligned_zeroed(largest - 64) == NULL);
    CHECK(new_doubles(largest / 8 + 2) == NULL);
    CHECK(new_doubles(largest / 4) == NULL);
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

/* ---- limits of control groups, read from a folder instead of / ---- */

static char fake[4096];

static void make_folder(const char *path)
{
    char whole[8192];
    snprintf(whole, sizeof whole, "%s%s", fake, path);
    for (char *at = whole + strlen(fake) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole, 0777);
        *at = '/';
    }
}

static void put_file(const char *path, const char *text)
{
    char whole[8192];
    make_folder(path);
    snprintf(whole, sizeof whole, "%s%s", fake, path);
    FILE *file = fopen(whole, "w");
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static void begin_root(const char *groups, const char *mounts)
{
    snprintf(fake, sizeof fake, "/tmp/sbps-memory-XXXXXX");
    if (!mkdtemp(fake)) *fake = '\0';
    put_file("/proc/self/cgroup", groups);
    put_file("/proc/self/mountinfo", mounts);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static double end_root(void)
{
    double limit = memory_limit(fake);
    nftw(fake, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return limit;
}

#define MOUNT_2 "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
#define MOUNT_1                                                                                \
    "33 32 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"                              \
    "35 32 0:31 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n"

TEST(a_group_of_version_2_and_its_parents_limit_memory)
{
    begin_root("0::/user/job\n", MOUNT_2);
    put_file("/sys/fs/cgroup/user/job/memory.max", "3000000000\n");
    CHECK(end_root() == 3e9);
    begin_root("0::/user/job\n", MOUNT_2);
    put_file("/sys/fs/cgroup/user/job/memory.max", "max\n");
    put_file("/sys/fs/cgroup/user/memory.max", "2000000000\n");
    CHECK(end_root() == 2e9);
    begin_root("0::/user/job\n", MOUNT_2);
    put_file("/sys/fs/cgroup/user/job/memory.max", "max\n");
    CHECK(end_root() == INFINITY);
    begin_root("0::/\n", MOUNT_2); /* in a container with a namespace of its own */
    put_file("/sys/fs/cgroup/memory.max", "1000000000\n");
    CHECK(end_root() == 1e9);
    begin_root("0::/../outside\n", MOUNT_2);
    put_file("/sys/fs/cgroup/memory.max", "1000000000\n");
    CHECK(end_root() == 1e9);
}

TEST(a_group_of_version_1_and_its_parents_limit_memory)
{
    static const char groups[] = "5:cpu:/elsewhere\n4:hugetlb,memory:/batch/job7\n0::/\n";
    begin_root(groups, MOUNT_1);
    put_file("/sys/fs/cgroup/memory/batch/job7/memory.limit_in_bytes", "4000000000\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/sys/fs/cgroup/cpu/elsewhere/memory.limit_in_bytes", "7\n");
    CHECK(end_root() == 4e9);
    begin_root(groups, MOUNT_1);
    put_file("/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "2000000000\n");
    put_file("/sys/fs/cgroup/memory/batch/job7/memory.limit_in_bytes", "4000000000\n");
    CHECK(end_root() == 2e9);
    /* the container's group is the root of its mount */
    begin_root("4:memory:/docker/0a1b\n",
               "35 32 0:31 /docker/0a1b /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1500000000\n");
    CHECK(end_root() == 1.5e9);
}

TEST(missing_or_malformed_files_set_no_limit)
{
    CHECK(memory_limit("/nowhere/at/all") == INFINITY);
    begin_root("", "");
    CHECK(end_root() == INFINITY);
    begin_root("no colons\n4:memory\n0:\n0::relative\n", "short\n - \n1 2 3 - cgroup2\n");
    CHECK(end_root() == INFINITY);
    begin_root("0::/job\n", MOUNT_2);
    put_file("/sys/fs/cgroup/job/memory.max", "-\n");
    put_file("/sys/fs/cgroup/memory.max", "0\n");
    CHECK(end_root() == INFINITY);
}

TEST(the_limits_of_the_process_count_too)
{
    struct rlimit before, less;
    double all = machine_memory();
    CHECK(all > 0 && all <= memory_limit("") && isfinite(all));
#ifdef __SANITIZE_ADDRESS__
    return; /* whose memory would not fit */
#endif
    REQUIRE(getrlimit(RLIMIT_DATA, &before) == 0);
    less = before;
    less.rlim_cur = (rlim_t)1 << 29;
    REQUIRE(setrlimit(RLIMIT_DATA, &less) == 0);
    CHECK(machine_memory() <= 0x1p29);
    setrlimit(RLIMIT_DATA, &before);
}

CHECK_MAIN
