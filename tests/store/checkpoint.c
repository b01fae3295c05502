/* Checkpoints are read bit for bit or refused, and are complete whenever the writer is killed.
 * */
#include "check.h"

#include "store/checkpoint.h"
#include "store/sample.h"

#include <zlib.h>

typedef struct {
    double numbers[100];
    uint64_t counter;
    char text[40];
} state;

static void fill(state *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->counter = seed;
    sample_fill(s->numbers, 100, &seed);
    snprintf(s->text, sizeof s->text, "batch-size=%d\n", 104);
}

/* Four blocks, one of them empty. */
static void blocks_of(state *s, checkpoint_block out[4])
{
    out[0] = (checkpoint_block){"numbers", s->numbers, sizeof s->numbers};
    out[1] = (checkpoint_block){"nothing", NULL, 0};
    out[2] = (checkpoint_block){"counter", &s->counter, sizeof s->counter};
    out[3] = (checkpoint_block){"options", s->text, strlen(s->text)};
}

static state written(const char *path)
{
    state s;
    checkpoint_block blocks[4];
    fill(&s, 17);
    blocks_of(&s, blocks);
    CHECK(checkpoint_write(path, blocks, 4, NULL) == SBPS_OK);
    return s;
}

TEST(a_checkpoint_comes_back_bit_for_bit_in_any_order)
{
    const char *path = sample_path("run.ckpt");
    state s = written(path), back;
    checkpoint_block blocks[4], swapped;
    memset(&back, 0, sizeof back);
    strcpy(back.text, s.text);
    memset(back.text, '?', strlen(s.text));
    blocks_of(&back, blocks);
    swapped = blocks[0], blocks[0] = blocks[3], blocks[3] = swapped;
    CHECK(checkpoint_read(path, blocks, 4, NULL) == SBPS_OK);
    CHECK(memcmp(&s, &back, sizeof s) == 0);
    CHECK(sample_files() == 1);
    unlink(path);
}

TEST(one_block_can_be_read_alone)
{
    const char *path = sample_path("run.ckpt");
    char *bytes;
    size_t size;
    sbps_error err = {0};
    written(path);
    CHECK(checkpoint_peek(path, "options", &bytes, &size, &err) == SBPS_OK);
    CHECK(bytes && size == 15 && strcmp(bytes, "batch-size=104\n") == 0);
    free(bytes);
    CHECK(checkpoint_peek(path, "nothing", &bytes, &size, &err) == SBPS_OK);
    CHECK(bytes && size == 0 && bytes[0] == '\0');
    free(bytes);
    CHECK(checkpoint_peek(path, "number", &bytes, &size, &err) == SBPS_MISMATCH);
    CHECK(bytes == NULL && strstr(err.text, "'number'"));
    unlink(path);
}

static void check_mismatch(const char *path, const checkpoint_block *blocks, size_t count,
                           const char *message)
{
    sbps_error err = {0};
    CHECK(checkpoint_read(path, blocks, count, &err) == SBPS_MISMATCH);
    CHECK(strstr(err.text, message) != NULL);
}

TEST(another_runs_checkpoint_is_refused_by_the_name_of_the_block)
{
    const char *path = sample_path("run.ckpt");
    state s = written(path), before = s;
    checkpoint_block blocks[5];
    s.counter = before.counter = 99;
    blocks_of(&s, blocks);
    check_mismatch(path, blocks, 3, "an unknown block 'options'");
    blocks[4] = (checkpoint_block){"more", NULL, 0};
    check_mismatch(path, blocks, 5, "no block 'more'");
    blocks[2].name = "count";
    check_mismatch(path, blocks, 4, "no block 'count'");
    blocks[2].name = "counter";
    blocks[3].size--;
    check_mismatch(path, blocks, 4, "'options' has 15 bytes, but this run needs 14");
    CHECK(memcmp(&s, &before, sizeof s) == 0); /* no output was written */
    unlink(path);
}

static void check_damaged(const char *path, sbps_status want)
{
    state s;
    checkpoint_block blocks[4];
    sbps_error err = {0};
    char *bytes;
    size_t size;
    fill(&s, 3);
    state before = s;
    blocks_of(&s, blocks);
    CHECK(checkpoint_read(path, blocks, 4, &err) == want);
    CHECK(strncmp(err.text, path, strlen(path)) == 0);
    CHECK(memcmp(&s, &before, sizeof s) == 0);
    CHECK(checkpoint_peek(path, "options", &bytes, &size, NULL) == want && bytes == NULL);
}

TEST(a_checkpoint_cut_short_or_lengthened_is_refused)
{
    const char *path = sample_path("run.ckpt");
    size_t size;
    written(path);
    char *bytes = sample_bytes(path, &size);
    for (size_t length = 0; length < size; length++) {
        sample_store(path, bytes, length);
        check_damaged(path, SBPS_BAD_FILE);
    }
    sample_store(path, bytes, size + 1);
    check_damaged(path, SBPS_BAD_FILE);
    free(bytes);
    unlink(path);
}

TEST(a_flipped_bit_in_any_byte_is_refused)
{
    const char *path = sample_path("run.ckpt");
    size_t size;
    written(path);
    char *bytes = sample_bytes(path, &size);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= (char)(1u << at % 8);
        sample_store(path, bytes, size);
        bytes[at] ^= (char)(1u << at % 8);
        check_damaged(path, SBPS_BAD_FILE);
    }
    free(bytes);
    unlink(path);
}

#define HEAD 32 /* bytes before the table */

static void put_sum(char *bytes, size_t size)
{
    uint32_t crc = (uint32_t)crc32(0, (const unsigned char *)bytes, (unsigned)(size - 4));
    memcpy(bytes + size - 4, &crc, sizeof crc);
}

/* With a good checksum: only the check of the table protects memory from these. */
TEST(a_table_with_wrong_sizes_is_refused)
{
    const char *path = sample_path("run.ckpt");
    static const uint64_t bad_counts[] = {
        0, 1, 5, 800, 1u << 20, UINT64_MAX, UINT64_MAX - 31, 1ull << 63};
    size_t size;
    written(path);
    char *bytes = sample_bytes(path, &size), *copy = malloc(size);
    for (size_t at = HEAD - 8; at + 8 <= HEAD + 4 * (16 + 7); at++)
        for (size_t i = 0; i < sizeof bad_counts / sizeof *bad_counts; i++) {
            memcpy(copy, bytes, size);
            memcpy(copy + at, &bad_counts[i], 8);
            if (memcmp(copy, bytes, size) == 0) continue;
            put_sum(copy, size);
            sample_store(path, copy, size);
            state s;
            checkpoint_block blocks[4];
            fill(&s, 3);
            blocks_of(&s, blocks);
            sbps_status status = checkpoint_read(path, blocks, 4, NULL);
            CHECK(status == SBPS_BAD_FILE || status == SBPS_MISMATCH);
        }
    free(copy);
    free(bytes);
    unlink(path);
}

/* Two sizes that are too large and whose sum overflows to the right one. */
TEST(sizes_that_overflow_are_refused)
{
    const char *path = sample_path("run.ckpt");
    size_t size;
    written(path);
    char *bytes = sample_bytes(path, &size);
    bytes[HEAD + 8 + 7] ^= (char)0x80;                /* size of `numbers` */
    bytes[HEAD + 2 * (16 + 7) + 8 + 7] ^= (char)0x80; /* size of `counter` */
    put_sum(bytes, size);
    sample_store(path, bytes, size);
    check_damaged(path, SBPS_BAD_FILE);
    free(bytes);
    unlink(path);
}

TEST(another_version_or_byte_order_is_a_mismatch)
{
    const char *path = sample_path("run.ckpt");
    size_t size;
    written(path);
    char *bytes = sample_bytes(path, &size);
    bytes[12]++;
    put_sum(bytes, size);
    sample_store(path, bytes, size);
    check_damaged(path, SBPS_MISMATCH);
    bytes[12]--;
    memcpy(bytes + 8, "\1\2\3\4", 4);
    put_sum(bytes, size);
    sample_store(path, bytes, size);
    check_damaged(path, SBPS_MISMATCH);
    free(bytes);
    unlink(path);
}

TEST(a_missing_or_unwritable_file_is_named)
{
    state s;
    checkpoint_block blocks[4];
    sbps_error err = {0};
    fill(&s, 3);
    blocks_of(&s, blocks);
    CHECK(checkpoint_read(sample_path("none.ckpt"), blocks, 4, &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "none.ckpt: cannot be read: No such file"));
    CHECK(checkpoint_read(sample_folder, blocks, 4, &err) == SBPS_NO_FILE);
    CHECK(checkpoint_write("/dev/full", blocks, 4, &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, strerror(ENOSPC)));
    CHECK(checkpoint_write(sample_path("no/run.ckpt"), blocks, 4, &err) == SBPS_NO_FILE);
}

#define BIG (1u << 18) /* doubles: writing takes far longer than making them */

/* Block `big` is the counter, repeated. */
static void write_endlessly(const char *path, uint64_t from)
{
    static double big[BIG];
    for (uint64_t n = from;; n++) {
        for (size_t i = 0; i < BIG; i++) big[i] = (double)n;
        const checkpoint_block blocks[] = {{"counter", &n, sizeof n}, {"big", big, sizeof big}};
        if (checkpoint_write(path, blocks, 2, NULL) != SBPS_OK) _exit(1);
    }
}

/* Temporary files of killed writers remain; each has the number of its process. */
static void clean_temps(const char *keep)
{
    DIR *folder = opendir(sample_folder);
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (e->d_name[0] != '.' && strcmp(e->d_name, keep) != 0) unlink(sample_path(e->d_name));
    if (folder) closedir(folder);
}

static ino_t number_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* Waits until the writer writes a file, after `done` new checkpoints, and stops it there. False
 * if it has ended. */
static bool stop_while_writing(pid_t writer, const char *path, int done)
{
    ino_t last = number_of(path);
    int status;
    for (int seen = 0;;) {
        if (kill(writer, SIGSTOP) != 0 || waitpid(writer, &status, WUNTRACED) != writer ||
            !WIFSTOPPED(status))
            return false;
        ino_t now = number_of(path);
        seen += now != last;
        last = now;
        if (seen >= done && sample_files() > 1) return true;
        kill(writer, SIGCONT);
        usleep(500);
    }
}

/* Half of the writers are killed before they have written anything, half after. */
TEST(a_killed_writer_leaves_the_old_or_the_new_checkpoint)
{
    static double big[BIG];
    const char *path = sample_path("killed.ckpt");
    uint64_t last = 0, n = 0;
    const checkpoint_block blocks[] = {{"counter", &n, sizeof n}, {"big", big, sizeof big}};
    REQUIRE(checkpoint_write(path, blocks, 2, NULL) == SBPS_OK);
    fflush(stdout);
    for (int kills = 0; kills < 30; kills++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        path = sample_path("killed.ckpt");
        if (child == 0) write_endlessly(path, last + 1);
        int status, done = kills % 2;
        REQUIRE(stop_while_writing(child, path, done));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        REQUIRE(checkpoint_read(path, blocks, 2, NULL) == SBPS_OK);
        CHECK(n >= last + (uint64_t)done);
        bool whole = true;
        for (size_t i = 0; i < BIG; i++) whole = whole && big[i] == (double)n;
        CHECK(whole);
        last = n;
        CHECK(sample_files() > 1);
        clean_temps("killed.ckpt");
    }
    unlink(sample_path("killed.ckpt"));
}

CHECK_MAIN
