/* Expands names and patterns to files, and copies pipes.
 *
 * Tables are read more than once: for the types of their columns, by several threads, and again
 * after a cell contradicted a type. A pipe can be read once, so its bytes, still packed, are
 * copied to an unnamed temporary file. */
#include "ingest/text/file_list.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/text/text_file.h"
#include "table/content_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- pipes ---- */

enum { SPOOL_BYTES = 256 * 1024 };

/* Returns the folder for temporary files. */
static const char *spool_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* Opens a temporary file without a name, which disappears with the process, or memory if no
 * file can be made. Returns -1 on failure. */
static int open_spool(void)
{
    char *path = NULL;
    if (asprintf(&path, "%s/sbps.XXXXXX", spool_folder()) < 0) return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    free(path);
    return file >= 0 ? file : memfd_create("sbps", MFD_CLOEXEC);
}

static sbps_status fail_kept(const text_input *from, int number, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE,
                "%s: piped input cannot be stored in %s: %s; set TMPDIR to another folder",
                text_input_name(from), spool_folder(), strerrordesc_np(number));
}

/* Appends bytes to the copy. */
static sbps_status write_all(const text_input *from, const char *bytes, size_t size,
                             sbps_error *err)
{
    while (size > 0) {
        ssize_t done = write(from->kept, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_kept(from, done < 0 ? errno : ENOSPC, err);
        bytes += done;
        size -= (size_t)done;
    }
    return SBPS_OK;
}

/* Copies the pipe to its end, unless spec->watch stops it. */
static sbps_status copy_all(const text_input *from, int pipe, const rows_spec *spec,
                            sbps_error *err)
{
    char *block = malloc(SPOOL_BYTES);
    sbps_status status = block ? SBPS_OK : fail_memory(err);
    for (ssize_t got = 1; status == SBPS_OK && got != 0;) {
        got = read(pipe, block, SPOOL_BYTES);
        if (got < 0 && errno != EINTR)
            status = fail(err, SBPS_NO_FILE, "%s: %s", text_input_name(from),
                          strerrordesc_np(errno));
        else if (got > 0)
            status = write_all(from, block, (size_t)got, err);
        if (status == SBPS_OK && spec->watch && !spec->watch(spec->watcher, "reading", 0, NAN))
            status = fail(err, SBPS_INTERRUPTED, "%s: not read: stopped on request",
                          text_input_name(from));
    }
    free(block);
    return status;
}

/* If `from` is a pipe or a device, copies it and sets from->kept to the copy. */
static sbps_status spool_pipe(text_input *from, const rows_spec *spec, sbps_error *err)
{
    struct stat about;
    sbps_status status = SBPS_OK;
    int file = text_input_open(from);
    if (file < 0) return SBPS_OK; /* text_file_open reports it */
    bool pipe = fstat(file, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    if (pipe) {
        from->kept = open_spool();
        status = from->kept < 0 ? fail_kept(from, errno, err) : copy_all(from, file, spec, err);
    }
    close(file);
    return status;
}

/* ---- names ---- */

static sbps_status add_path(file_list *l, const char *path, sbps_error *err)
{
    char **all = realloc(l->path, (l->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    l->path = all;
    if (!(all[l->count] = copy_text(path))) return fail_memory(err);
    l->count++;
    return SBPS_OK;
}

/* Adds the files that match a pattern, sorted by name. */
static sbps_status add_matches(file_list *l, const char *pattern, sbps_error *err)
{
    glob_t found;
    int code = glob(pattern, 0, NULL, &found);
    sbps_status status = SBPS_OK;
    if (code == GLOB_NOSPACE)
        status = fail_memory(err);
    else if (code != 0)
        status = fail(err, SBPS_NO_FILE, "%s: no file matches this pattern", pattern);
    for (size_t i = 0; status == SBPS_OK && i < found.gl_pathc; i++)
        status = add_path(l, found.gl_pathv[i], err);
    if (code == 0) globfree(&found);
    return status;
}

/* Fills out->path from the lines of `names`. */
static sbps_status name_files(const char *names, file_list *out, sbps_error *err)
{
    *out = (file_list){0};
    char *all = copy_text(names), *rest = all;
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && access(names, F_OK) == 0) {
        status = add_path(out, names, err);
        rest = NULL;
    }
    for (char *name; status == SBPS_OK && (name = strsep(&rest, "\n"));) {
        bool pattern = strpbrk(name, "*?[") && access(name, F_OK) != 0;
        status = pattern ? add_matches(out, name, err) : add_path(out, name, err);
    }
    free(all);
    return status;
}

/* ---- one file named twice ---- */

/* Two paths are one file if device and inode are equal. */
typedef struct {
    dev_t device;
    ino_t inode;
    size_t number; /* in the list */
} identity;

/* Orders by file, then by position in the list, so that the first two paths are reported. */
static int by_identity(const void *a, const void *b)
{
    const identity *p = a, *q = b;
    if (p->device != q->device) return p->device < q->device ? -1 : 1;
    if (p->inode != q->inode) return p->inode < q->inode ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

/* Finds the identity of a regular file; returns false for others, whose rows cannot be read
 * twice. */
static bool identify(const char *path, size_t number, identity *out)
{
    struct stat s;
    int code = strcmp(path, "-") ? stat(path, &s) : fstat(STDIN_FILENO, &s);
    if (code != 0 || !S_ISREG(s.st_mode)) return false;
    *out = (identity){s.st_dev, s.st_ino, number};
    return true;
}

/* Fails if a file is listed twice, also through symbolic or hard links: its rows would count
 * twice. */
static sbps_status refuse_twice(const file_list *l, sbps_error *err)
{
    size_t count = 0;
    identity *all = malloc((l->count + 1) * sizeof *all);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    for (size_t k = 0; all && k < l->count; k++)
        if (identify(l->path[k], k, &all[count])) count++;
    if (all) qsort(all, count, sizeof *all, by_identity);
    for (size_t k = 1; status == SBPS_OK && k < count; k++)
        if (all[k].device == all[k - 1].device && all[k].inode == all[k - 1].inode)
            status =
                fail(err, SBPS_BAD_ARG,
                     "%s and %s are the same file, whose rows would count twice: name it once",
                     l->path[all[k - 1].number], l->path[all[k].number]);
    free(all);
    return status;
}

/* Fills out->input and copies the pipes. */
static sbps_status keep_pipes(const rows_spec *spec, file_list *l, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    l->input = calloc(l->count + 1, sizeof *l->input);
    if (!l->input) return fail_memory(err);
    for (size_t k = 0; k < l->count; k++) l->input[k] = (text_input){l->path[k], -1};
    for (size_t k = 0; status == SBPS_OK && k < l->count; k++)
        status = spool_pipe(&l->input[k], spec, err);
    return status;
}

sbps_status file_list_create(const char *names, const rows_spec *spec, file_list *out,
                             sbps_error *err)
{
    sbps_status status = name_files(names, out, err);
    if (status == SBPS_OK && out->count > 1) status = refuse_twice(out, err);
    return status == SBPS_OK ? keep_pipes(spec, out, err) : status;
}

void file_list_clear(file_list *l)
{
    for (size_t k = 0; l->input && k < l->count; k++)
        if (l->input[k].kept >= 0) close(l->input[k].kept);
    free(l->input);
    free_texts(l->path, l->count);
    *l = (file_list){0};
}

/* ---- same files ----
 *
 * Checks that all ranks read the same files: a path may be a different file on every machine,
 * and the posterior would then be of rows that do not belong together.
 *
 * When each rank reads a stretch of the text, no rank can hash all of it. So every rank hashes
 * the same blocks: of each file the first, the last, and others at equal distances between
 * them. A file of up to BLOCKS blocks is compared as a whole. */

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
