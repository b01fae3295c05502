/* A checksum behind the end of an HDF5 file. HDF5 knows where its bytes end and passes over
 * what follows, so any NetCDF reader opens the file, while we see damage before HDF5 parses a
 * byte: one flipped bit is enough to crash HDF5 1.10. The price is that a run file rewritten by
 * another tool is not ours any more and is refused. */
#ifndef STORE_TRAILER_H
#define STORE_TRAILER_H

#include "core/status.h"

#include <stdio.h>

#define TRAILER_SIZE 12 /* "SBPSsum1", then CRC-32 of all before, low byte first */
#define HDF5_HEAD    48 /* bytes of a superblock that hdf5_end looks at */

/* Where the superblock says the file ends; 0 when the bytes are no superblock we know. */
uint64_t hdf5_end(const unsigned char head[HDF5_HEAD]);

void trailer_make(const void *bytes, size_t size, unsigned char out[TRAILER_SIZE]);

/* NULL when `stream`, of `size` bytes, is an HDF5 file with its trailer and as it was written,
 * else what is wrong with it. */
const char *trailer_check(FILE *stream, uint64_t size);

/* Whether these bytes begin as a trailer does. */
bool trailer_begins(const unsigned char tail[TRAILER_SIZE]);

#endif
