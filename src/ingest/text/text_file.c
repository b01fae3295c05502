/* Reads text files, plain or packed, through one buffer.
 *
 * Packings and known formats that are not text are recognised by their first bytes, as in
 * file(1); an Excel sheet is a zip archive with a folder xl/. A packed file may have several
 * members, whose contents are joined. read() into a buffer that stays in cache is as fast as a
 * mapping and works for pipes, too. */
#include "ingest/text/text_file.h"

#include "core/printable.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- formats that are not read ---- */

#define UNPACK "unpack it, or pack it with gzip: "
#define EXPORT "write it as CSV: "

typedef struct {
    const char *magic;
    size_t length;      /* bytes of magic */
    const char *inside; /* must also occur early in the file; NULL: nothing */
    const char *name, *remedy;
} foreign;

#define MAGIC(text) text, sizeof text - 1

static const foreign formats[] = {
    {MAGIC("\x28\xb5\x2f\xfd"), NULL, "packed by zstd", UNPACK "zstd -d FILE"},
    {MAGIC("\xfd"
           "7zXZ"),
     NULL, "packed by xz", UNPACK "xz -d FILE"},
    {MAGIC("BZh"), NULL, "packed by bzip2", UNPACK "bunzip2 FILE"},
    {MAGIC("\x04\x22\x4d\x18"), NULL, "packed by lz4", UNPACK "lz4 -d FILE"},
    {MAGIC("7z\xbc\xaf"), NULL, "a 7z archive", UNPACK "7z x FILE"},
    {MAGIC("PK\x03\x04"), "xl/", "an Excel sheet (xlsx)",
     "save it as CSV in Excel or LibreOffice"},
    {MAGIC("PK\x03\x04"), ".npy", "numpy arrays (npz)",
     EXPORT "numpy.savetxt with delimiter and header"},
    {MAGIC("PK\x03\x04"), NULL, "a zip archive", UNPACK "unzip FILE"},
    {MAGIC("\xd0\xcf\x11\xe0"), NULL, "an Excel sheet (xls)",
     "save it as CSV in Excel or LibreOffice"},
    {MAGIC("\x93NUMPY"), NULL, "a numpy array (npy)",
     EXPORT "numpy.savetxt with delimiter and header"},
    {MAGIC("PAR1"), NULL, "a Parquet file", EXPORT "pandas.read_parquet(FILE).to_csv"},
    {MAGIC("ARROW1"), NULL, "a Feather file", EXPORT "pandas.read_feather(FILE).to_csv"},
    {MAGIC("FEA1"), NULL, "a Feather file", EXPORT "pandas.read_feather(FILE).to_csv"},
    {MAGIC("ORC"), NULL, "an ORC file", EXPORT "pandas.read_orc(FILE).to_csv"},
    {MAGIC("\x89HDF\r\n"), NULL, "an HDF5 or NetCDF file",
     "the data of a run are CSV, libsvm or what `sbps convert` writes"},
    {MAGIC("SQLite format 3"), NULL, "an SQLite database",
     EXPORT "sqlite3 -header -csv FILE 'select ...'"},
    {MAGIC("RDX"), NULL, "an R workspace", EXPORT "write.csv(..., row.names = FALSE)"},
    {MAGIC("X\n\0\0\0"), NULL, "an R object (rds)", EXPORT "write.csv(readRDS(FILE))"},
    {MAGIC("\xff\xfe"), NULL, "UTF-16 text", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
    {MAGIC("\xfe\xff"), NULL, "UTF-16 text", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
};

/* Returns whether the first bytes of a file are those of the format. */
static bool is_a(const foreign *f, const char *bytes, size_t size)
{
    if (size < f->length || memcmp(bytes, f->magic, f->length) != 0) return false;
    return !f->inside || memmem(bytes, size, f->inside, strlen(f->inside));
}

/* Returns whether a file with an ASCII magic such as ORC may be text that begins with this
 * word: it then has no control characters. */
static bool may_be_text(const foreign *f, const char *bytes, size_t size)
{
    for (size_t i = 0; i < f->length; i++)
        if ((unsigned char)f->magic[i] >= 0x80) return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < '\t') return false;
    return true;
}

sbps_status foreign_refuse(const char *path, const char *bytes, size_t size, sbps_error *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const foreign *f = &formats[i];
        if (is_a(f, bytes, size) && !may_be_text(f, bytes, size))
            return fail(err, SBPS_BAD_FILE, "%s: this is %s, which sbps cannot read; %s", path,
                        f->name, f->remedy);
    }
    return SBPS_OK;
}

/* ---- bytes ---- */

enum { BLOCK = 256 * 1024, PACKED = 64 * 1024 }; /* bytes read at a time: text, packed */

/* A longer record is taken for a quote that was not closed. */
static const size_t RECORD_LIMIT = (size_t)256 << 20;

static sbps_status fail_file(const text_file *t, int number, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE, "%s: %s", t->path, strerrordesc_np(number));
}

/* Reads up to `space` bytes of the file; *got is 0 at its end. */
static sbps_status read_plain(text_file *t, void *out, size_t space, size_t *got,
                              sbps_error *err)
{
    ssize_t count;
    do
        count = t->regular ? pread(t->file, out, space, (off_t)t->position)
                           : read(t->file, out, space);
    while (count < 0 && errno == EINTR);
    if (count < 0) return fail_file(t, errno, err);
    *got = (size_t)count;
    t->position += *got;
    return SBPS_OK;
}

/* Reads more packed bytes; *ended if there are none after a complete member. */
static sbps_status refill_packed(text_file *t, bool *ended, sbps_error *err)
{
    size_t got = 0;
    sbps_status status = read_plain(t, t->packed, PACKED, &got, err);
    if (status != SBPS_OK) return status;
    if (got == 0 && !t->member_ended)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: the %s data end too early; the file seems to be truncated",
                    t->path, t->line, t->packing->name);
    t->rest = t->packed;
    t->rest_size = got;
    *ended = got == 0;
    return SBPS_OK;
}

/* After a member: skips zero padding and begins another member; other bytes are an error. */
static sbps_status next_member(text_file *t, sbps_error *err)
{
    const unpack_kind *kind = t->packing;
    for (; t->rest_size > 0 && *t->rest == 0; t->rest++) t->rest_size--;
    if (t->rest_size == 0) return SBPS_OK; /* read more first */
    if (*t->rest != (unsigned char)kind->magic[0])
        return fail(err, SBPS_BAD_FILE, "%s:%zu: bytes that are not %s follow the %s data",
                    t->path, t->line, kind->name, kind->name);
    t->member_ended = false;
    return kind->restart(t->unpacker) ? SBPS_OK : fail_memory(err);
}

/* Unpacks from io->in to io->out as far as both last. */
static sbps_status unpack_step(text_file *t, unpack_buffers *io, sbps_error *err)
{
    const char *why = NULL;
    unpack_state state = t->packing->step(t->unpacker, io, &why);
    t->rest = io->in;
    t->rest_size = io->in_size;
    if (state == UNPACK_NO_MEMORY) return fail_memory(err);
    if (state == UNPACK_DAMAGED)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: the %s data are damaged (%s)", t->path,
                    t->line, t->packing->name, why ? why : "bad header");
    t->member_ended = state == UNPACK_MEMBER_ENDS;
    return SBPS_OK;
}

/* Unpacks until `space` bytes are filled or the file ends. */
static sbps_status read_packed(text_file *t, void *out, size_t space, size_t *got,
                               sbps_error *err)
{
    unpack_buffers io = {.out = out, .out_size = space};
    bool ended = false;
    while (io.out_size > 0 && !ended) {
        sbps_status status = SBPS_OK;
        if (t->rest_size == 0) status = refill_packed(t, &ended, err);
        if (status != SBPS_OK) return status;
        if (ended) break;
        if (t->member_ended && (status = next_member(t, err)) != SBPS_OK) return status;
        if (t->rest_size == 0) continue;
        io.in = t->rest;
        io.in_size = t->rest_size;
        if ((status = unpack_step(t, &io, err)) != SBPS_OK) return status;
    }
    *got = space - io.out_size;
    return SBPS_OK;
}

/* ---- the buffer ---- */

/* Makes room for a block behind `unread` bytes; growing by doubling keeps the cost of moving
 * linear. */
static sbps_status reserve_buffer(text_file *t, size_t unread, sbps_error *err)
{
    if (unread + BLOCK + 1 <= t->capacity) return SBPS_OK;
    if (unread > RECORD_LIMIT)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: the row is longer than 256 MiB; check for a quote that is not "
                    "closed",
                    t->path, t->line);
    size_t capacity = 2 * unread + BLOCK + 1;
    char *buffer = realloc(t->buffer, capacity + TEXT_PAD);
    if (!buffer) return fail_memory(err);
    t->buffer = buffer;
    t->capacity = capacity;
    return SBPS_OK;
}

/* A zero byte marks the end of the buffer, so the text may not contain one. The text before it
 * is read first, so that an earlier error is reported first. */
static void stop_at_zero(text_file *t, size_t fresh)
{
    char *zero = memchr(t->limit - fresh, '\0', fresh);
    if (!zero) return;
    t->past_zero = (size_t)(t->limit - zero);
    t->finished = false;
    t->limit = zero;
}

/* Reports the zero byte at t->limit with its line. */
static sbps_status fail_zero(const text_file *t, sbps_error *err)
{
    size_t line = t->line;
    for (const char *p = t->at; p < t->limit; p++) line += *p == '\n';
    return fail(err, SBPS_BAD_FILE, "%s:%zu: the file has a zero byte: it is not UTF-8 text",
                t->path, line);
}

/* Replaces CR, the end of lines on old Macs, by newlines. */
static void make_newlines(char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\r') text[i] = '\n';
}

/* Moves the unread text to the front of the buffer and makes room behind it. */
static sbps_status slide(text_file *t, sbps_error *err)
{
    size_t unread = (size_t)(t->limit - t->at);
    memmove(t->buffer, t->at, unread + 1);
    t->at = t->buffer;
    t->limit = t->buffer + unread;
    sbps_status status = reserve_buffer(t, unread, err); /* may move the buffer */
    t->at = t->buffer;
    t->limit = t->buffer + unread;
    return status;
}

/* Reads bytes in the file's encoding. */
static sbps_status read_bytes(text_file *t, char *to, size_t space, size_t *got,
                              sbps_error *err)
{
    return t->packing ? read_packed(t, to, space, got, err)
                      : read_plain(t, to, space, got, err);
}

/* Reads bytes and converts them to UTF-8 at t->limit. They are read to the end of the space, so
 * that the output never overwrites bytes that are not yet converted. */
static sbps_status read_encoded(text_file *t, size_t space, size_t *got, sbps_error *err)
{
    size_t raw = 0, raw_size = space / ENCODED_MAX;
    char *at = t->limit + space - raw_size;
    sbps_status status = read_bytes(t, at, raw_size, &raw, err);
    *got = status == SBPS_OK
               ? (size_t)(encoding_decode(t->encoding, at, raw, t->limit) - t->limit)
               : 0;
    return status;
}

sbps_status text_file_more(text_file *t, sbps_error *err)
{
    size_t got = 0;
    if (t->past_zero) return fail_zero(t, err);
    if (t->position >= t->reach) return SBPS_BAD_FILE;
    sbps_status status = slide(t, err);
    if (status != SBPS_OK) return status;
    size_t space = t->capacity - (size_t)(t->limit - t->at) - 1;
    status = t->encoding ? read_encoded(t, space, &got, err)
                         : read_bytes(t, t->limit, space, &got, err);
    if (status != SBPS_OK) got = 0;
    if (t->returns) make_newlines(t->limit, got);
    t->finished = got == 0;
    t->limit += got;
    *t->limit = '\0';
    stop_at_zero(t, got);
    return status;
}

/* ---- opening ---- */

/* Takes the first `got` bytes as packed ones and unpacks the first block. */
static sbps_status start_unpacking(text_file *t, const unpack_kind *kind, size_t got,
                                   sbps_error *err)
{
    t->packed = malloc(PACKED);
    t->unpacker = t->packed ? kind->open() : NULL;
    if (!t->unpacker) return fail_memory(err);
    t->packing = kind;
    memcpy(t->packed, t->buffer, got);
    t->rest = t->packed;
    t->rest_size = got;
    t->limit = t->buffer;
    *t->limit = '\0';
    return text_file_more(t, err);
}

/* Converts the first block, which was read before it was known to have no UTF-8 byte order
 * mark. */
static sbps_status decode_start(text_file *t, const uint16_t *encoding, sbps_error *err)
{
    size_t size = (size_t)(t->limit - t->at), capacity = ENCODED_MAX * size + BLOCK + 1;
    char *buffer = malloc(capacity + TEXT_PAD);
    if (!buffer) return fail_memory(err);
    t->limit = encoding_decode(encoding, t->at, size, buffer);
    *t->limit = '\0';
    free(t->buffer);
    t->buffer = t->at = buffer;
    t->capacity = capacity;
    t->encoding = encoding;
    return SBPS_OK;
}

/* Reads the first block and recognises packing, foreign formats, ends of lines and byte order
 * mark. A pipe may give single bytes, so it reads on until enough are there. */
static sbps_status read_first_block(text_file *t, sbps_error *err)
{
    size_t total = 0, got = 1;
    const uint16_t *encoding = t->encoding;
    sbps_status status = SBPS_OK;
    t->encoding = NULL;
    while (total < PACKED && got > 0) {
        status = read_plain(t, t->buffer + total, PACKED - total, &got, err);
        if (status != SBPS_OK) return status;
        total += got;
    }
    t->at = t->buffer;
    t->limit = t->buffer + total;
    *t->limit = '\0';
    t->line = 1;
    t->finished = got == 0;
    t->past_zero = 0;
    t->returns = false;
    const unpack_kind *kind = unpack_kind_of(t->buffer, total);
    if (kind) {
        t->finished = false;
        status = start_unpacking(t, kind, total, err);
    } else
        stop_at_zero(t, total);
    /* Foreign formats first: their message is better than one about a zero byte. */
    size_t size = (size_t)(t->limit - t->at) + t->past_zero;
    sbps_status known = foreign_refuse(t->path, t->at, size, err);
    if (known != SBPS_OK) return known;
    if (t->past_zero) return fail_zero(t, err);
    /* A byte order mark has three bytes. */
    while (status == SBPS_OK && !t->finished && t->limit - t->at < 3)
        status = text_file_more(t, err);
    size = (size_t)(t->limit - t->at);
    t->returns = memchr(t->at, '\r', size) && !memchr(t->at, '\n', size);
    if (t->returns) make_newlines(t->at, size);
    if (status != SBPS_OK) return status;
    if (t->limit - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0)
        t->at += 3;
    else if (encoding)
        status = decode_start(t, encoding, err);
    return status;
}

/* Frees everything that belongs to a packed file. */
static void drop_packing(text_file *t)
{
    if (t->unpacker) t->packing->close(t->unpacker);
    free(t->packed);
    t->packing = NULL;
    t->unpacker = NULL;
    t->packed = NULL;
    t->rest_size = 0;
    t->member_ended = false;
}

static bool is_standard(const text_input *from)
{
    return !strcmp(from->path, "-");
}

const char *text_input_name(const text_input *from)
{
    return is_standard(from) ? "standard input" : from->path;
}

int text_input_open(const text_input *from)
{
    if (from->kept >= 0) return fcntl(from->kept, F_DUPFD_CLOEXEC, 0);
    if (is_standard(from)) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    return open(from->path, O_RDONLY | O_CLOEXEC);
}

sbps_status text_file_open(const text_input *from, const uint16_t *encoding, text_file **out,
                           sbps_error *err)
{
    struct stat about;
    sbps_status status = SBPS_OK;
    *out = NULL;
    text_file *t = calloc(1, sizeof *t);
    if (!t) return fail_memory(err);
    t->path = text_input_name(from);
    t->reach = SIZE_MAX;
    t->encoding = encoding;
    t->capacity = BLOCK + 1;
    t->buffer = malloc(t->capacity + TEXT_PAD);
    t->file = text_input_open(from);
    if (!t->buffer)
        status = fail_memory(err);
    else if (t->file < 0 || fstat(t->file, &about) != 0)
        status = fail_file(t, errno, err);
    else if (S_ISDIR(about.st_mode))
        status = fail_file(t, EISDIR, err);
    else {
        t->regular = S_ISREG(about.st_mode);
        status = read_first_block(t, err);
    }
    if (status == SBPS_OK)
        *out = t;
    else
        text_file_close(t);
    return status;
}

sbps_status text_file_rewind(text_file *t, sbps_error *err)
{
    drop_packing(t);
    t->position = 0;
    if (!t->regular && lseek(t->file, 0, SEEK_SET) != 0)
        return fail(err, SBPS_NO_FILE, "%s: must be a file that can be read twice, not a pipe",
                    t->path);
    return read_first_block(t, err);
}

bool text_file_divides(const text_file *t)
{
    return t->regular && !t->packing && !t->returns && !t->encoding;
}

size_t text_file_offset(const text_file *t)
{
    return t->position - t->past_zero - (size_t)(t->limit - t->at);
}

void text_file_seek(text_file *t, size_t offset, size_t line)
{
    t->at = t->limit = t->buffer;
    *t->limit = '\0';
    t->position = offset;
    t->line = line;
    t->past_zero = 0;
    t->finished = false;
}

bool text_view_open(const text_file *of, text_file *out)
{
    *out = (text_file){.path = of->path,
                       .file = of->file,
                       .regular = true,
                       .reach = SIZE_MAX,
                       .capacity = BLOCK + 1,
                       .buffer = malloc(BLOCK + 1 + TEXT_PAD)};
    if (out->buffer) text_file_seek(out, 0, 1);
    return out->buffer != NULL;
}

void text_view_close(text_file *view)
{
    free(view->buffer);
}

void text_file_close(text_file *t)
{
    if (!t) return;
    drop_packing(t);
    if (t->file >= 0) close(t->file);
    free(t->buffer);
    free(t);
}
