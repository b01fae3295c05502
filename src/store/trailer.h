/* A checksum after the end of an HDF5 file. HDF5 ignores what follows its own end, so any
 * NetCDF reader opens the file, while damage is detected here before HDF5 parses it: one
 * flipped bit can crash HDF5 1.10. The price: a run file rewritten by another tool is refused.
 */
#ifndef STORE_TRAILER_H
#define STORE_TRAILER_H

#include "core/status.h"

#include <stdio.h>

#define TRAILER_SIZE 12 /* "SBPSsum1", then CRC-32 of all before, low byte first */
#define HDF5_HEAD    48 /* bytes of a superblock that hdf5_end reads */

/* End of the file according to its superblock; 0: not a known superblock. */
uint64_t hdf5_end(const unsigned char head[HDF5_HEAD]);

/* Computes the trailer for these bytes. */
void trailer_make(const void *bytes, size_t size, unsigned char out[TRAILER_SIZE]);

/* Checks that `stream`, of `size` bytes, is an undamaged HDF5 file with trailer. Returns NULL,
 * or what is wrong with it. */
const char *trailer_check(FILE *stream, uint64_t size);

/* True if these bytes begin like a trailer. */
bool trailer_begins(const unsigned char tail[TRAILER_SIZE]);

#endif
