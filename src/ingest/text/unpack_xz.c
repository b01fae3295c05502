/* xz files, by liblzma. */
#include "ingest/text/unpack.h"

#include <lzma.h>
#include <stdlib.h>

#define XZ_MEMORY ((uint64_t)1 << 30) /* largest memory for a dictionary, in bytes */

static bool xz_restart(void *self)
{
    return lzma_stream_decoder(self, XZ_MEMORY, 0) == LZMA_OK;
}

static void xz_close(void *self)
{
    lzma_end(self);
    free(self);
}

static void *xz_open(void)
{
    lzma_stream *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (lzma_stream)LZMA_STREAM_INIT;
    if (xz_restart(s)) return s;
    xz_close(s);
    return NULL;
}

static unpack_state xz_step(void *self, unpack_buffers *io, const char **why)
{
    lzma_stream *s = self;
    s->next_in = io->in;
    s->avail_in = io->in_size;
    s->next_out = io->out;
    s->avail_out = io->out_size;
    lzma_ret code = lzma_code(s, LZMA_RUN);
    io->in = s->next_in;
    io->in_size = s->avail_in;
    io->out = s->next_out;
    io->out_size = s->avail_out;
    *why = code == LZMA_MEMLIMIT_ERROR ? "its dictionary is larger than 1 GiB" : NULL;
    if (code == LZMA_STREAM_END) return UNPACK_MEMBER_ENDS;
    if (code == LZMA_OK || code == LZMA_BUF_ERROR) return UNPACK_CONTINUES;
    return code == LZMA_MEM_ERROR ? UNPACK_NO_MEMORY : UNPACK_DAMAGED;
}

const unpack_kind unpack_xz = {
    .name = "xz",
    .magic = "\xfd"
             "7zXZ\0",
    .magic_size = 6,
    .open = xz_open,
    .step = xz_step,
    .restart = xz_restart,
    .close = xz_close,
};
