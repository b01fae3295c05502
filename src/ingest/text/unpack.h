/* Packed files, unpacked block by block. zstd and xz are there where their libraries were when the program was
 * built. */
#ifndef INGEST_UNPACK_H
#define INGEST_UNPACK_H

#include "core/kind_tables.h"
#include "core/status.h"

typedef struct {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size; /* room */
} unpack_buffers;

typedef enum {
    UNPACK_GOES_ON,
    UNPACK_MEMBER_ENDS,
    UNPACK_DAMAGED,
    UNPACK_NO_MEMORY
} unpack_state;

typedef struct {
    const char *name;
    const char *magic; /* bytes that a file begins with, and each member of it */
    size_t magic_size;
    void *(*open)(void); /* NULL: no memory */
    /* Moves on with the buffers; *why is what is damaged, or NULL. */
    unpack_state (*step)(void *self, unpack_buffers *io, const char **why);
    /* Another member begins; false: no memory. */
    bool (*restart)(void *self);
    void (*close)(void *self);
} unpack_kind;

#ifdef SBPS_ZSTD
#define UNPACK_ZSTD(X) X(unpack, zstd)
#else
#define UNPACK_ZSTD(X)
#endif
#ifdef SBPS_XZ
#define UNPACK_XZ(X) X(unpack, xz)
#else
#define UNPACK_XZ(X)
#endif

#define UNPACK_KINDS(X) X(unpack, gzip) UNPACK_ZSTD(X) UNPACK_XZ(X)

UNPACK_KINDS(KIND_DECLARED)

/* How a file that begins with these bytes is packed; NULL: it is not, or in a way that is unknown. */
const unpack_kind *unpack_kind_of(const char *bytes, size_t size);

#endif
