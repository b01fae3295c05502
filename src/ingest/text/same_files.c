/* Checks that all ranks read the same files: a path may be a different file on every machine,
 * and the posterior would then be of rows that do not belong together.
 *
 * When each rank reads a stretch of the text, no rank can hash all of it. So every rank hashes
 * the same blocks: of each file the first, the last, and others at equal distances between
 * them. A file of up to BLOCKS blocks is compared as a whole. */
#include "ingest/text/same_files.h"

#include "table/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((uint64_t)4096)
#define BLOCKS      ((size_t)64) /* of all files together */
#define BLOCKS_MIN  ((size_t)4)  /* of each file at least */

/* Values in place of a size. */
#define SIZE_UNKNOWN UINT64_MAX /* the file cannot be opened */
#define SIZE_PACKED                                                                            \
    (UINT64_MAX - 1) /* packing programs may write the same text as other bytes */

/* Fingerprints of all files, one after another: the size of a file, then a hash of each
 * block. */
typedef struct {
    size_t blocks;          /* per file */
    size_t words;           /* per file: blocks + 1 */
    uint64_t *mine, *first; /* of this rank; of rank 0 */
} fingerprints;

/* How a file of this rank differs from that of rank 0. */
typedef enum { SAME, OTHER_SIZE, OTHER_CONTENT } difference_kind;

typedef struct {
    uint64_t kind, file;
    uint64_t mine, first; /* sizes, or the byte where a block that differs begins */
} difference;

/* Returns the byte where block k of a file begins. */
static uint64_t block_begin(uint64_t size, size_t k, size_t blocks)
{
    if (size <= blocks * BLOCK_BYTES) return k * BLOCK_BYTES;
    uint64_t last = size - BLOCK_BYTES, gaps = blocks - 1;
    return last / gaps * k + last % gaps * k / gaps;
}

/* Reads the block at byte `at`; returns the bytes read: fewer than a block at the end of the
 * file, 0 also after an error. */
static size_t read_block(int file, uint64_t at, unsigned char *out)
{
    size_t got = 0;
    while (got < BLOCK_BYTES) {
        ssize_t count = pread(file, out + got, BLOCK_BYTES - got, (off_t)(at + got));
        if (count <= 0) break;
        got += (size_t)count;
    }
    return got;
}

/* Writes the fingerprint of a file, 1 + blocks words. */
static void take_fingerprint(const text_input *from, size_t blocks, uint64_t *out)
{
    unsigned char block[BLOCK_BYTES];
    struct stat about;
    int file = text_input_open(from);
    out[0] = SIZE_UNKNOWN;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        size_t got = read_block(file, 0, block);
        out[0] =
            unpack_kind_of((const char *)block, got) ? SIZE_PACKED : (uint64_t)about.st_size;
    }
    for (size_t k = 0; out[0] < SIZE_PACKED && k < blocks; k++) {
        hash_stream s = hash_open(k, BLOCK_BYTES);
        size_t got = read_block(file, block_begin(out[0], k, blocks), block);
        out[1 + k] = hash_close(&s, block, got);
    }
    if (file >= 0) close(file);
}

/* Compares the fingerprints of one file. */
static difference compare_file(const fingerprints *f, size_t file)
{
    const uint64_t *mine = f->mine + file * f->words, *first = f->first + file * f->words;
    if (mine[0] == SIZE_UNKNOWN || first[0] == SIZE_UNKNOWN) return (difference){.kind = SAME};
    if (mine[0] != first[0]) return (difference){OTHER_SIZE, file, mine[0], first[0]};
    for (size_t k = 0; mine[0] != SIZE_PACKED && k < f->blocks; k++)
        if (mine[1 + k] != first[1 + k]) {
            uint64_t at = block_begin(mine[0], k, f->blocks);
            return (difference){OTHER_CONTENT, file, at, at};
        }
    return (difference){.kind = SAME};
}

/* Reports the difference that `rank` found. */
static sbps_status fail_difference(const char *path, size_t rank, const difference *d,
                                   sbps_error *err)
{
    if (d->kind == OTHER_SIZE && d->mine < SIZE_PACKED && d->first < SIZE_PACKED)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the file has %" PRIu64 " bytes on rank %zu and %" PRIu64
                    " on rank 0: all ranks must read the same file",
                    path, d->mine, rank, d->first);
    if (d->kind == OTHER_SIZE)
        return fail(
            err, SBPS_BAD_FILE,
            "%s: the file is packed on rank %zu or on rank 0, and not on both: all ranks "
            "must read the same file",
            path, rank);
    return fail(
        err, SBPS_BAD_FILE,
        "%s: the file of rank %zu differs from that of rank 0 in the block at byte %" PRIu64
        ": all ranks must read the same file",
        path, rank, d->mine);
}

/* Compares the number of files; the arrays of fingerprints must have the same length on all
 * ranks. */
static sbps_status compare_counts(const file_list *files, ranks *among, sbps_error *err)
{
    const uint64_t mine = files->count;
    uint64_t *all = calloc(among->size, sizeof *all);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (all) ranks_gather(among, &mine, all, sizeof mine);
    for (size_t r = 1; status == SBPS_OK && r < among->size; r++)
        if (all[r] != all[0])
            status = fail(err, SBPS_BAD_FILE,
                          "%s: rank %zu finds %" PRIu64 " files and rank 0 %" PRIu64
                          ": all ranks must read the same files",
                          files->path[0], r, all[r], all[0]);
    free(all);
    return status;
}

/* Compares the files one by one up to the first difference, which all ranks then report. */
static sbps_status compare_files(const file_list *files, ranks *among, const fingerprints *f,
                                 sbps_error *err)
{
    difference mine = {.kind = SAME}, *all = calloc(among->size, sizeof *all);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (!all) return status;
    for (size_t k = 0; mine.kind == SAME && k < files->count; k++) mine = compare_file(f, k);
    ranks_gather(among, &mine, all, sizeof mine);
    for (size_t r = 1; status == SBPS_OK && r < among->size; r++)
        if (all[r].kind != SAME)
            status = fail_difference(files->path[all[r].file], r, &all[r], err);
    free(all);
    return status;
}

sbps_status same_files_check(const file_list *files, ranks *among, sbps_error *err)
{
    if (!among || among->size == 1) return SBPS_OK;
    sbps_status status = compare_counts(files, among, err);
    if (status != SBPS_OK) return status;
    size_t each = BLOCKS / files->count;
    fingerprints f = {.blocks = each < BLOCKS_MIN ? BLOCKS_MIN : each};
    f.words = f.blocks + 1;
    f.mine = calloc(files->count * f.words, sizeof *f.mine);
    f.first = calloc(files->count * f.words, sizeof *f.first);
    status = f.mine && f.first ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) {
        size_t bytes = files->count * f.words * sizeof *f.mine;
        for (size_t k = 0; k < files->count; k++)
            take_fingerprint(&files->input[k], f.blocks, f.mine + k * f.words);
        memcpy(f.first, f.mine, bytes);
        ranks_broadcast(among, 0, f.first, bytes);
        status = compare_files(files, among, &f, err);
    }
    free(f.mine);
    free(f.first);
    return status;
}
