/* The list of packings, and gzip (RFC 1952) by zlib. */
#define ZLIB_CONST /* z_stream.next_in is const */
#include "ingest/text/unpack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const unpack_kind *const kinds[] = {UNPACK_KINDS(KIND_LISTED) NULL};

const unpack_kind *unpack_kind_of(const char *bytes, size_t size)
{
    for (size_t i = 0; kinds[i]; i++)
        if (size >= kinds[i]->magic_size &&
            !memcmp(bytes, kinds[i]->magic, kinds[i]->magic_size))
            return kinds[i];
    return NULL;
}

static void *gzip_open(void)
{
    z_stream *z = calloc(1, sizeof *z);
    /* 15: the largest window, 2^15 bytes; + 16: gzip headers and checksums only */
    if (z && inflateInit2(z, 15 + 16) == Z_OK) return z;
    free(z);
    return NULL;
}

/* zlib counts bytes in uInt. */
static uInt clamp_size(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static unpack_state gzip_step(void *self, unpack_buffers *io, const char **why)
{
    z_stream *z = self;
    uInt in = clamp_size(io->in_size), out = clamp_size(io->out_size);
    z->next_in = io->in;
    z->avail_in = in;
    z->next_out = io->out;
    z->avail_out = out;
    int code = inflate(z, Z_NO_FLUSH);
    io->in += in - z->avail_in;
    io->in_size -= in - z->avail_in;
    io->out += out - z->avail_out;
    io->out_size -= out - z->avail_out;
    *why = z->msg;
    /* Z_BUF_ERROR: no progress without more input or output, which is no failure */
    if (code == Z_STREAM_END) return UNPACK_MEMBER_ENDS;
    if (code == Z_OK || code == Z_BUF_ERROR) return UNPACK_CONTINUES;
    return code == Z_MEM_ERROR ? UNPACK_NO_MEMORY : UNPACK_DAMAGED;
}

static bool gzip_restart(void *self)
{
    return inflateReset(self) == Z_OK;
}

static void gzip_close(void *self)
{
    inflateEnd(self);
    free(self);
}

const unpack_kind unpack_gzip = {
    .name = "gzip",
    .magic = "\x1f\x8b",
    .magic_size = 2,
    .open = gzip_open,
    .step = gzip_step,
    .restart = gzip_restart,
    .close = gzip_close,
};
