/* Checkpoint files: named blocks of bytes in one atomic file. Blocks are raw memory, so a
 * checkpoint can be read only with the byte order and by the build that wrote it. */
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
/* Fills the bytes of all blocks, or of none. SBPS_MISMATCH if names and sizes are not exactly
 * those of the file, in any order; SBPS_BAD_FILE if the file is damaged. */
sbps_status checkpoint_read(const char *path, const checkpoint_block *blocks, size_t count,
                            sbps_error *err);
/* Reads one block, followed by a zero byte not included in *size. *bytes is the caller's. */
sbps_status checkpoint_peek(const char *path, const char *name, char **bytes, size_t *size,
                            sbps_error *err);

/* Hash of a file's length and content, never 0. */
sbps_status checkpoint_digest(const char *path, uint64_t *out, sbps_error *err);

#endif
