/* Checkpoint files.
 *
 *   magic "SBPSCKPT" | order u32 | version u32 | total u64 | count u64
 *   count times: name length u64 | size u64 | name
 *   count times: bytes, in the order of the table
 *   crc u32
 *
 * Numbers are in the machine's byte order, given by `order`; `total` is the length of the file;
 * crc is zlib's CRC-32 of everything before it. Magic and crc have the same position in every
 * version, so that damage can be distinguished from another version. A file is read into memory
 * and checked before its content is used. */
#include "store/checkpoint.h"

#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC         "SBPSCKPT"
#define MAGIC_SIZE    8
#define BYTE_ORDER_IS 0x01020304u
#define VERSION       1u
#define HEAD_SIZE     (MAGIC_SIZE + 4 + 4 + 8 + 8)
#define CRC_SIZE      4

/* ---- writing ---- */

typedef struct {
    atomic_file *file;
    uLong crc;
} summed_file;

/* Writes bytes and updates the checksum. A failed write is reported by file_commit. */
static void put(summed_file *s, const void *bytes, size_t size)
{
    if (size == 0) return;
    s->crc = crc32_z(s->crc, bytes, size);
    file_write(s->file, bytes, size);
}

static void put_u32(summed_file *s, uint32_t value)
{
    put(s, &value, sizeof value);
}

static void put_u64(summed_file *s, uint64_t value)
{
    put(s, &value, sizeof value);
}

/* Length of the file. */
static uint64_t total_size(const checkpoint_block *blocks, size_t count)
{
    uint64_t total = HEAD_SIZE + CRC_SIZE;
    for (size_t i = 0; i < count; i++) total += 16 + strlen(blocks[i].name) + blocks[i].size;
    return total;
}

static void put_blocks(summed_file *s, const checkpoint_block *blocks, size_t count)
{
    put(s, MAGIC, MAGIC_SIZE);
    put_u32(s, BYTE_ORDER_IS);
    put_u32(s, VERSION);
    put_u64(s, total_size(blocks, count));
    put_u64(s, count);
    for (size_t i = 0; i < count; i++) {
        put_u64(s, strlen(blocks[i].name));
        put_u64(s, blocks[i].size);
        put(s, blocks[i].name, strlen(blocks[i].name));
    }
    for (size_t i = 0; i < count; i++) put(s, blocks[i].bytes, blocks[i].size);
    put_u32(s, (uint32_t)s->crc);
}

sbps_status checkpoint_write(const char *path, const checkpoint_block *blocks, size_t count,
                             sbps_error *err)
{
    atomic_file file;
    sbps_status status = file_begin(path, &file, err);
    if (status != SBPS_OK) return status;
    summed_file s = {&file, crc32_z(0, NULL, 0)};
    put_blocks(&s, blocks, count);
    return file_commit(&file, err);
}

/* ---- reading ---- */

typedef struct {
    const char *path;
    unsigned char *bytes;
    size_t size;     /* of the file, including crc */
    uint64_t count;  /* blocks */
    size_t contents; /* end of the table, beginning of the blocks */
} image;

/* An entry of the table. */
typedef struct {
    const char *name; /* not terminated */
    size_t name_length, size, start;
} entry;

/* SBPS_BAD_FILE: not a checkpoint, or damaged. */
static sbps_status bad(const image *m, sbps_error *err, const char *what)
{
    return fail(err, SBPS_BAD_FILE, "%s: not a checkpoint of sbps, or damaged: %s", m->path,
                what);
}

static uint32_t u32_at(const image *m, size_t at)
{
    uint32_t value;
    memcpy(&value, m->bytes + at, sizeof value);
    return value;
}

static uint64_t u64_at(const image *m, size_t at)
{
    uint64_t value;
    memcpy(&value, m->bytes + at, sizeof value);
    return value;
}

/* The next entry of the table; advances *at in the table and *start in the blocks. False: it
 * leads out of the file. */
static bool next_entry(const image *m, size_t *at, size_t *start, entry *out)
{
    size_t end = m->size - CRC_SIZE;
    if (end - *at < 16) return false;
    uint64_t name_length = u64_at(m, *at), size = u64_at(m, *at + 8);
    *at += 16;
    if (name_length > end - *at) return false;
    *out = (entry){(const char *)m->bytes + *at, (size_t)name_length, (size_t)size, *start};
    *at += out->name_length;
    if (size > end - *start) return false;
    *start += out->size;
    return true;
}

/* Finds the beginning of the blocks; true if table and blocks fill the file exactly. */
static bool table_fits(image *m)
{
    size_t at = HEAD_SIZE, used = 0;
    entry e;
    for (uint64_t i = 0; i < m->count; i++)
        if (!next_entry(m, &at, &used, &e)) return false;
    m->contents = at;
    return at <= m->size - CRC_SIZE && used == m->size - CRC_SIZE - at;
}

/* Checks magic, byte order, checksum and version. */
static sbps_status check_image(image *m, sbps_error *err)
{
    if (m->size < HEAD_SIZE + CRC_SIZE) return bad(m, err, "it is too short");
    if (memcmp(m->bytes, MAGIC, MAGIC_SIZE) != 0)
        return bad(m, err, "it does not start like a checkpoint");
    uLong crc = crc32_z(crc32_z(0, NULL, 0), m->bytes, m->size - CRC_SIZE);
    if (u32_at(m, MAGIC_SIZE) == __builtin_bswap32(BYTE_ORDER_IS))
        return fail(err, SBPS_MISMATCH, "%s: written on a machine with the opposite byte order",
                    m->path);
    if (u32_at(m, m->size - CRC_SIZE) != (uint32_t)crc)
        return bad(m, err, "its checksum does not match its content");
    if (u32_at(m, MAGIC_SIZE + 4) != VERSION)
        return fail(err, SBPS_MISMATCH,
                    "%s: has format version %u, but this program reads version %u", m->path,
                    u32_at(m, MAGIC_SIZE + 4), VERSION);
    m->count = u64_at(m, MAGIC_SIZE + 16);
    if (u64_at(m, MAGIC_SIZE + 8) != m->size || !table_fits(m))
        return bad(m, err, "its table of blocks does not match its length");
    return SBPS_OK;
}

static sbps_status read_stream(image *m, FILE *stream, sbps_error *err)
{
    struct stat status;
    if (fstat(fileno(stream), &status) != 0) return fail_file(err, m->path, "read", errno);
    if (S_ISDIR(status.st_mode)) return fail_file(err, m->path, "read", EISDIR);
    if (!S_ISREG(status.st_mode)) return bad(m, err, "it is a device or a pipe");
    m->size = (size_t)status.st_size;
    if (!(m->bytes = malloc(m->size + 1))) return fail_memory(err);
    errno = 0;
    size_t got = fread(m->bytes, 1, m->size, stream);
    if (ferror(stream)) return fail_file(err, m->path, "read", errno);
    m->size = got; /* shorter if the file was truncated meanwhile; detected below */
    return check_image(m, err);
}

/* Reads and checks a file. On success the caller frees m->bytes. */
static sbps_status open_image(const char *path, image *m, sbps_error *err)
{
    *m = (image){.path = path};
    /* without waiting for a writer if the file is a pipe */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (descriptor >= 0 && !stream) close(descriptor);
    if (!stream) return fail_file(err, path, "read", errno);
    sbps_status status = read_stream(m, stream, err);
    fclose(stream);
    if (status == SBPS_OK) return SBPS_OK;
    free(m->bytes);
    m->bytes = NULL;
    return status;
}

/* Finds a block by name; false: there is none. */
static bool find_entry(const image *m, const char *name, entry *out)
{
    size_t at = HEAD_SIZE, start = m->contents;
    for (uint64_t i = 0; i < m->count; i++) {
        if (!next_entry(m, &at, &start, out)) return false;
        if (out->name_length == strlen(name) && !memcmp(out->name, name, out->name_length))
            return true;
    }
    return false;
}

/* True if a block of the file is among the requested ones. */
static bool is_requested(const entry *e, const checkpoint_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (e->name_length == strlen(blocks[i].name) &&
            !memcmp(e->name, blocks[i].name, e->name_length))
            return true;
    return false;
}

/* Checks that names and sizes of the requested blocks are exactly those of the file. */
static sbps_status match_blocks(const image *m, const checkpoint_block *blocks, size_t count,
                                sbps_error *err)
{
    entry e;
    for (size_t i = 0; i < count; i++) {
        if (!find_entry(m, blocks[i].name, &e))
            return fail(err, SBPS_MISMATCH, "%s: contains no block '%s'", m->path,
                        blocks[i].name);
        if (e.size != blocks[i].size)
            return fail(err, SBPS_MISMATCH,
                        "%s: block '%s' has %zu bytes, but this run needs %zu", m->path,
                        blocks[i].name, e.size, blocks[i].size);
    }
    size_t at = HEAD_SIZE, start = m->contents;
    for (uint64_t i = 0; i < m->count && next_entry(m, &at, &start, &e); i++)
        if (!is_requested(&e, blocks, count))
            return fail(err, SBPS_MISMATCH, "%s: contains an unknown block '%.*s'", m->path,
                        (int)(e.name_length < 64 ? e.name_length : 64), e.name);
    return SBPS_OK;
}

sbps_status checkpoint_read(const char *path, const checkpoint_block *blocks, size_t count,
                            sbps_error *err)
{
    image m;
    entry e;
    sbps_status status = open_image(path, &m, err);
    if (status != SBPS_OK) return status;
    status = match_blocks(&m, blocks, count, err);
    for (size_t i = 0; i < count && status == SBPS_OK; i++)
        if (find_entry(&m, blocks[i].name, &e) && e.size)
            memcpy(blocks[i].bytes, m.bytes + e.start, e.size);
    free(m.bytes);
    return status;
}

sbps_status checkpoint_peek(const char *path, const char *name, char **bytes, size_t *size,
                            sbps_error *err)
{
    image m;
    entry e;
    *bytes = NULL;
    *size = 0;
    sbps_status status = open_image(path, &m, err);
    if (status != SBPS_OK) return status;
    if (!find_entry(&m, name, &e))
        status = fail(err, SBPS_MISMATCH, "%s: contains no block '%s'", path, name);
    else if (!(*bytes = calloc(e.size + 1, 1)))
        status = fail_memory(err);
    else
        memcpy(*bytes, m.bytes + e.start, *size = e.size);
    free(m.bytes);
    return status;
}

/* ---- other files ---- */

sbps_status checkpoint_digest(const char *path, uint64_t *out, sbps_error *err)
{
    unsigned char bytes[4096];
    uint64_t length = 0;
    uLong crc = crc32_z(0, NULL, 0);
    FILE *stream = fopen(path, "rbe");
    if (!stream) return fail_file(err, path, "read", errno);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, stream)) > 0; length += got)
        crc = crc32_z(crc, bytes, got);
    int error = ferror(stream) ? errno : 0;
    fclose(stream);
    if (error) return fail_file(err, path, "read", error);
    *out = (length + 1) << 32 ^ (uint64_t)crc;
    return SBPS_OK;
}
