/* A checksum after the end of an HDF5 file. Superblocks are described in the HDF5 file format
 * specification, section II.A: versions 0 and 2-3 store the end-of-file address at byte 40 and
 * 28, low byte first, if addresses have 8 bytes, as in NetCDF files. */
#include "store/trailer.h"

#include <string.h>
#include <zlib.h>

#define MAGIC      "SBPSsum1"
#define MAGIC_SIZE 8
#define BLOCK      4096

static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    while (count--) value = value << 8 | bytes[count];
    return value;
}

uint64_t hdf5_end(const unsigned char head[HDF5_HEAD])
{
    unsigned version = head[8];
    if (memcmp(head, hdf5_signature, sizeof hdf5_signature) != 0) return 0;
    if (version == 0 && head[13] == 8) return little_endian(head + 40, 8);
    if ((version == 2 || version == 3) && head[9] == 8) return little_endian(head + 28, 8);
    return 0;
}

void trailer_make(const void *bytes, size_t size, unsigned char out[TRAILER_SIZE])
{
    uLong crc = crc32_z(crc32_z(0, NULL, 0), bytes, size);
    memcpy(out, MAGIC, MAGIC_SIZE);
    for (size_t i = 0; i < 4; i++) out[MAGIC_SIZE + i] = (unsigned char)(crc >> 8 * i);
}

bool trailer_begins(const unsigned char tail[TRAILER_SIZE])
{
    return memcmp(tail, MAGIC, MAGIC_SIZE) == 0;
}

/* CRC-32 of the first `size` bytes; false: they cannot be read. */
static bool sum_of(FILE *stream, uint64_t size, uLong *crc)
{
    unsigned char block[BLOCK];
    *crc = crc32_z(0, NULL, 0);
    rewind(stream);
    while (size) {
        size_t chunk = size < BLOCK ? (size_t)size : BLOCK;
        if (fread(block, 1, chunk, stream) != chunk) return false;
        *crc = crc32_z(*crc, block, chunk);
        size -= chunk;
    }
    return true;
}

static bool read_at(FILE *stream, uint64_t at, unsigned char *out, size_t size)
{
    return fseeko(stream, (off_t)at, SEEK_SET) == 0 && fread(out, 1, size, stream) == size;
}

const char *trailer_check(FILE *stream, uint64_t size)
{
    unsigned char head[HDF5_HEAD], tail[TRAILER_SIZE];
    uLong crc;
    if (size == 0) return "the file is empty";
    if (size < sizeof head || !read_at(stream, 0, head, sizeof head) ||
        memcmp(head, hdf5_signature, sizeof hdf5_signature) != 0)
        return "it does not start like a NetCDF-4 file";
    if (!read_at(stream, size - TRAILER_SIZE, tail, sizeof tail)) return "it cannot be read";
    if (memcmp(tail, MAGIC, MAGIC_SIZE) != 0) return "it does not end like a run file";
    if (!sum_of(stream, size - TRAILER_SIZE, &crc)) return "it cannot be read";
    if (crc != little_endian(tail + MAGIC_SIZE, 4))
        return "its checksum does not match its content";
    return NULL;
}
