/* Random reads per second of a file, the page cache left aside: the yardstick for tables
 * larger than memory.
 *
 *   random_reads FILE BYTES DEPTH SECONDS
 *
 * DEPTH reads of BYTES each, from uniform starts that are multiples of the disk's sector,
 * are under way, a quarter of them at most handed over anew at a time, which costs the
 * processor least: O_DIRECT and the kernel's asynchronous reads (io_submit), one thread.
 * Prints reads per second, bytes per second, the mean time a read took and the processor
 * time it cost. */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECTOR = 4096, DEPTH_MAX = 4096, PARTS = 4 };

typedef struct {
    int file;
    size_t bytes, depth, sectors; /* of a read; at a time; in the file */
    uint64_t random;
    aio_context_t context;
    struct iocb *request;
    unsigned char *memory;
} reader;

static double clock_of(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(const char *what)
{
    fprintf(stderr, "random_reads: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* xorshift64*, Vigna (2016): any numbers will do here. */
static uint64_t next_random(reader *r)
{
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return r->random * UINT64_C(2685821657736338717);
}

static void send(reader *r, struct iocb **list, size_t count)
{
    size_t last = r->sectors - r->bytes / SECTOR;
    for (size_t i = 0; i < count; i++)
        list[i]->aio_offset = (int64_t)(next_random(r) % (last + 1) * SECTOR);
    for (size_t sent = 0; sent < count;) {
        long done = syscall(SYS_io_submit, r->context, (long)(count - sent), list + sent);
        if (done <= 0) give_up("io_submit");
        sent += (size_t)done;
    }
}

static void prepare(reader *r, const char *path)
{
    struct stat about;
    r->file = open(path, O_RDONLY | O_DIRECT);
    if (r->file < 0 || fstat(r->file, &about) != 0) give_up(path);
    r->bytes = (r->bytes + SECTOR - 1) / SECTOR * SECTOR;
    r->sectors = (size_t)about.st_size / SECTOR;
    errno = EINVAL;
    if (r->sectors < r->bytes / SECTOR || r->depth == 0 || r->depth > DEPTH_MAX)
        give_up("the file is shorter than a read, or the depth is not 1 to 4096");
    if (syscall(SYS_io_setup, r->depth, &r->context) != 0) give_up("io_setup");
    r->request = calloc(r->depth, sizeof *r->request);
    r->memory = aligned_alloc(SECTOR, r->depth * r->bytes);
    if (!r->request || !r->memory) give_up("memory");
    for (size_t i = 0; i < r->depth; i++)
        r->request[i] = (struct iocb){.aio_data = i,
                                      .aio_lio_opcode = IOCB_CMD_PREAD,
                                      .aio_fildes = (uint32_t)r->file,
                                      .aio_buf = (uint64_t)(r->memory + i * r->bytes),
                                      .aio_nbytes = r->bytes};
}

/* Reads that ended within `seconds`. */
static double count_reads(reader *r, double seconds)
{
    static struct io_event events[DEPTH_MAX];
    static struct iocb *list[DEPTH_MAX];
    double end = clock_of(CLOCK_MONOTONIC) + seconds, done = 0.0;
    long part = (long)((r->depth + PARTS - 1) / PARTS);
    for (size_t i = 0; i < r->depth; i++) list[i] = &r->request[i];
    send(r, list, r->depth);
    while (clock_of(CLOCK_MONOTONIC) < end) {
        long got = syscall(SYS_io_getevents, r->context, part, part, events, NULL);
        if (got < 0) give_up("io_getevents");
        for (long i = 0; i < got; i++) {
            if (events[i].res != (int64_t)r->bytes) give_up("a read fell short");
            list[i] = &r->request[events[i].data];
        }
        send(r, list, (size_t)got);
        done += (double)got;
    }
    return done;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: random_reads FILE BYTES DEPTH SECONDS\n", stderr);
        return 2;
    }
    reader r = {.bytes = strtoull(argv[2], NULL, 10),
                .depth = strtoull(argv[3], NULL, 10),
                .random = 88172645463325252u};
    double seconds = strtod(argv[4], NULL);
    prepare(&r, argv[1]);
    double begin = clock_of(CLOCK_MONOTONIC), done = count_reads(&r, seconds);
    double time = clock_of(CLOCK_MONOTONIC) - begin, work = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    printf("reads_per_second %.0f bytes %zu depth %zu megabytes_per_second %.1f "
           "microseconds_each %.1f processor_microseconds_each %.1f\n",
           done / time, r.bytes, r.depth, done / time * (double)r.bytes / 1e6,
           1e6 * time * (double)r.depth / done, 1e6 * work / done);
    return EXIT_SUCCESS;
}
