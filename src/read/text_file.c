/* Text files. Plain and gzip files are told apart by the magic bytes 1f 8b (RFC 1952); members of
 * a gzip file follow each other without a seam. read() into one buffer that stays in cache is as
 * fast as a mapping and serves pipes too. */
#include "read/text_file.h"

#include "read/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 256 * 1024, PACKED = 64 * 1024 };

/* A record longer than this is a quote left open, not a row. */
static const size_t RECORD_LIMIT = (size_t)256 << 20;

static sbps_status fail_file(const text_file *t, int number, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE, "%s: %s", t->path, strerrordesc_np(number));
}

static sbps_status read_plain(text_file *t, void *out, size_t room, size_t *got,
                              sbps_error *err)
{
    ssize_t count;
    do
        count = t->regular ? pread(t->file, out, room, (off_t)t->position)
                           : read(t->file, out, room);
    while (count < 0 && errno == EINTR);
    if (count < 0) return fail_file(t, errno, err);
    *got = (size_t)count;
    t->position += *got;
    return SBPS_OK;
}

/* More packed bytes; *ended when there are none and none are owed. */
static sbps_status refill_packed(text_file *t, bool *ended, sbps_error *err)
{
    size_t got = 0;
    sbps_status status = read_plain(t, t->packed, PACKED, &got, err);
    if (status != SBPS_OK) return status;
    if (got == 0 && !t->member_ended)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: the gzip data end too early: is the file cut off?", t->path,
                    t->line);
    t->gzip->next_in = t->packed;
    t->gzip->avail_in = (uInt)got;
    *ended = got == 0;
    return SBPS_OK;
}

/* After a member: zero padding is skipped, another member begins, anything else is damage. */
static sbps_status next_member(text_file *t, sbps_error *err)
{
    z_stream *z = t->gzip;
    while (z->avail_in > 0 && *z->next_in == 0) {
        z->next_in++;
        z->avail_in--;
    }
    if (z->avail_in == 0) return SBPS_OK;
    if (*z->next_in != 0x1f)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: bytes that are not gzip follow the gzip data",
                    t->path, t->line);
    t->member_ended = false;
    return inflateReset(z) == Z_OK ? SBPS_OK : fail_memory(err);
}

/* Fills the room, which grows with what is kept: so often as that doubles, and no more, it is moved. */
static sbps_status read_gzip(text_file *t, void *out, size_t room, size_t *got, sbps_error *err)
{
    z_stream *z = t->gzip;
    uInt asked = room < UINT_MAX ? (uInt)room : UINT_MAX;
    z->next_out = out;
    z->avail_out = asked;
    bool ended = false;
    while (z->avail_out > 0 && !ended) {
        sbps_status status = SBPS_OK;
        if (z->avail_in == 0) status = refill_packed(t, &ended, err);
        if (status != SBPS_OK) return status;
        if (ended) break;
        if (t->member_ended && (status = next_member(t, err)) != SBPS_OK) return status;
        if (z->avail_in == 0) continue;
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) return fail_memory(err);
        if (code == Z_STREAM_END)
            t->member_ended = true;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: the gzip data are damaged (%s)", t->path,
                        t->line, z->msg ? z->msg : "bad header");
    }
    *got = asked - z->avail_out;
    return SBPS_OK;
}

static sbps_status make_room(text_file *t, size_t unread, sbps_error *err)
{
    if (unread + BLOCK + 1 <= t->capacity) return SBPS_OK;
    if (unread > RECORD_LIMIT)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: a row longer than 256 MiB: is a quote left open?", t->path,
                    t->line);
    size_t capacity = 2 * unread + BLOCK + 1;
    char *buffer = realloc(t->buffer, capacity + TEXT_PAD);
    if (!buffer) return fail_memory(err);
    t->buffer = buffer;
    t->capacity = capacity;
    return SBPS_OK;
}

/* A NUL marks the buffer's end, so the text may hold none; neither does any text file. What comes before
 * it is read like any text, so that what is wrong first is told first. */
static void stop_at_zero(text_file *t, size_t fresh)
{
    char *zero = memchr(t->limit - fresh, '\0', fresh);
    if (!zero) return;
    t->past_zero = (size_t)(t->limit - zero);
    t->finished = false;
    t->limit = zero;
}

static sbps_status fail_zero(const text_file *t, sbps_error *err)
{
    size_t line = t->line;
    for (const char *p = t->at; p < t->limit; p++) line += *p == '\n';
    return fail(err, SBPS_BAD_FILE, "%s:%zu: a zero byte: this is not UTF-8 text", t->path,
                line);
}

/* The unread text to the front of the buffer, and room behind it. */
static sbps_status slide(text_file *t, sbps_error *err)
{
    size_t unread = (size_t)(t->limit - t->at);
    memmove(t->buffer, t->at, unread + 1);
    t->at = t->buffer;
    t->limit = t->buffer + unread;
    sbps_status status = make_room(t, unread, err);
    t->at = t->buffer;
    t->limit = t->buffer + unread;
    return status;
}

sbps_status text_file_more(text_file *t, sbps_error *err)
{
    size_t got = 0;
    if (t->past_zero) return fail_zero(t, err);
    if (t->position >= t->reach) return SBPS_BAD_FILE;
    sbps_status status = slide(t, err);
    if (status != SBPS_OK) return status;
    size_t room = t->capacity - (size_t)(t->limit - t->at) - 1;
    status = t->gzip ? read_gzip(t, t->limit, room, &got, err)
                     : read_plain(t, t->limit, room, &got, err);
    if (status != SBPS_OK) got = 0;
    t->finished = got == 0;
    t->limit += got;
    *t->limit = '\0';
    stop_at_zero(t, got);
    return status;
}

static sbps_status start_gzip(text_file *t, size_t got, sbps_error *err)
{
    z_stream *z = calloc(1, sizeof *z);
    t->packed = malloc(PACKED);
    if (!z || !t->packed || inflateInit2(z, 15 + 16) != Z_OK) {
        free(z);
        return fail_memory(err);
    }
    t->gzip = z;
    memcpy(t->packed, t->buffer, got);
    z->next_in = t->packed;
    z->avail_in = (uInt)got;
    t->limit = t->buffer;
    *t->limit = '\0';
    return text_file_more(t, err);
}

/* The first bytes: gzip or not, byte order mark or not. Pipes may give them one by one. */
static sbps_status start(text_file *t, sbps_error *err)
{
    size_t total = 0, got = 1;
    sbps_status status = SBPS_OK;
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
    if (total >= 2 && memcmp(t->buffer, "\x1f\x8b", 2) == 0) {
        t->finished = false;
        status = start_gzip(t, total, err);
    }
    if (!t->gzip) stop_at_zero(t, total);
    size_t size = (size_t)(t->limit - t->at) + t->past_zero;
    sbps_status known = foreign_refuse(t->path, t->at, size, err);
    if (known != SBPS_OK) return known;
    if (t->past_zero) return fail_zero(t, err);
    while (status == SBPS_OK && !t->finished && t->limit - t->at < 3)
        status = text_file_more(t, err);
    if (status == SBPS_OK && t->limit - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0)
        t->at += 3;
    return status;
}

static void drop_gzip(text_file *t)
{
    if (t->gzip) inflateEnd(t->gzip);
    free(t->gzip);
    free(t->packed);
    t->gzip = NULL;
    t->packed = NULL;
    t->member_ended = false;
}

sbps_status text_file_open(const char *path, text_file **out, sbps_error *err)
{
    struct stat about;
    sbps_status status = SBPS_OK;
    *out = NULL;
    text_file *t = calloc(1, sizeof *t);
    if (!t) return fail_memory(err);
    t->path = path;
    t->reach = SIZE_MAX;
    t->capacity = BLOCK + 1;
    t->buffer = malloc(t->capacity + TEXT_PAD);
    t->file = open(path, O_RDONLY | O_CLOEXEC);
    if (!t->buffer)
        status = fail_memory(err);
    else if (t->file < 0 || fstat(t->file, &about) != 0)
        status = fail_file(t, errno, err);
    else if (S_ISDIR(about.st_mode))
        status = fail_file(t, EISDIR, err);
    else {
        t->regular = S_ISREG(about.st_mode);
        status = start(t, err);
    }
    if (status == SBPS_OK)
        *out = t;
    else
        text_file_close(t);
    return status;
}

sbps_status text_file_rewind(text_file *t, sbps_error *err)
{
    drop_gzip(t);
    t->position = 0;
    if (!t->regular && lseek(t->file, 0, SEEK_SET) != 0)
        return fail(err, SBPS_NO_FILE, "%s: must be a file that can be read twice, not a pipe",
                    t->path);
    return start(t, err);
}

bool text_file_divides(const text_file *t)
{
    return t->regular && !t->gzip;
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
    drop_gzip(t);
    if (t->file >= 0) close(t->file);
    free(t->buffer);
    free(t);
}
