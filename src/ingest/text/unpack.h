/* Unpacks files block by block: gzip always, zstd and xz if their libraries were found at build
 * time. */
#ifndef INGEST_UNPACK_H
#define INGEST_UNPACK_H

#include "core/kind_tables.h"
#include "core/status.h"

/* Input and output of one step, which moves both on. */
typedef struct {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size; /* bytes of space left */
} unpack_buffers;

typedef enum {
    UNPACK_CONTINUES,
    UNPACK_MEMBER_ENDS,
    UNPACK_DAMAGED,
    UNPACK_NO_MEMORY
} unpack_state;

typedef struct {
    const char *name;
    const char *magic; /* bytes that a file, and each member of it, begins with */
    size_t magic_size;
    /* Returns the state of an unpacker; NULL: no memory. */
    void *(*open)(void);
    /* Unpacks from io->in to io->out; *why is the reason for UNPACK_DAMAGED, or NULL. */
    unpack_state (*step)(void *self, unpack_buffers *io, const char **why);
    /* Begins another member; returns false without memory. */
    bool (*restart)(void *self);
    /* Frees the state. */
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

/* Returns the packing of a file that begins with these bytes; NULL: plain, or an unknown
 * packing. */
const unpack_kind *unpack_kind_of(const char *bytes, size_t size);

#endif
