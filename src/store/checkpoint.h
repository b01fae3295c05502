/* Checkpoints: named blocks of bytes in one file that appears whole or not at all. Blocks are
 * raw memory, so a checkpoint belongs to the machine's byte order and to the build that wrote
 * it. */
#ifndef STORE_CHECKPOINT_H
#define STORE_CHECKPOINT_H

#include "core/status.h"

typedef struct {
    const char *name; /* distinct within a checkpoint */
    void *bytes;
    size_t size;
} checkpoint_block;

sbps_status checkpoint_write(const char *path, const checkpoint_block *blocks, size_t count,
                             sbps_error *err);
/* Fills every block's bytes, or none: names and sizes must be those of the file, in any order,
 * else SBPS_MISMATCH names the block. SBPS_BAD_FILE when the file is cut short or altered. */
sbps_status checkpoint_read(const char *path, const checkpoint_block *blocks, size_t count,
                            sbps_error *err);
/* One block, with a zero byte behind it that `size` does not count; give back with free(). */
sbps_status checkpoint_peek(const char *path, const char *name, char **bytes, size_t *size,
                            sbps_error *err);

/* Of a file's length and content, never 0: to tell later whether it has changed. */
sbps_status checkpoint_digest(const char *path, uint64_t *out, sbps_error *err);

#endif
