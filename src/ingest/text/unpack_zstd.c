/* zstd files (RFC 8878), by libzstd. */
#include "ingest/text/unpack.h"

#include <zstd.h>

static void *zstd_open(void)
{
    return ZSTD_createDStream();
}

static unpack_state zstd_step(void *self, unpack_buffers *io, const char **why)
{
    ZSTD_inBuffer in = {io->in, io->in_size, 0};
    ZSTD_outBuffer out = {io->out, io->out_size, 0};
    size_t code = ZSTD_decompressStream(self, &out, &in);
    io->in += in.pos;
    io->in_size -= in.pos;
    io->out += out.pos;
    io->out_size -= out.pos;
    *why = ZSTD_isError(code) ? ZSTD_getErrorName(code) : NULL;
    if (ZSTD_isError(code)) return UNPACK_DAMAGED;
    return code == 0 ? UNPACK_MEMBER_ENDS : UNPACK_CONTINUES;
}

static bool zstd_restart(void *self)
{
    return !ZSTD_isError(ZSTD_initDStream(self));
}

static void zstd_close(void *self)
{
    ZSTD_freeDStream(self);
}

const unpack_kind unpack_zstd = {
    .name = "zstd",
    .magic = "\x28\xb5\x2f\xfd",
    .magic_size = 4,
    .open = zstd_open,
    .step = zstd_step,
    .restart = zstd_restart,
    .close = zstd_close,
};
