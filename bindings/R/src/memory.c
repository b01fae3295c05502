/* A run's bytes as a file without a name in a file system, where the system has such files. */
#define _GNU_SOURCE
#include "sbps_r.h"

#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#if defined(__linux__) && defined(MFD_CLOEXEC)
static int nameless_file(void)
{
    return memfd_create("sbps", MFD_CLOEXEC);
}
#else
static int nameless_file(void)
{
    return -1;
}
#endif

static bool write_all(int to, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(to, bytes, count);
        if (done <= 0) return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* The descriptor of a file in memory with these bytes; -1 where there is none: the caller takes a temporary file. */
SEXP r_memory_open(SEXP bytes)
{
    want_vector(bytes, RAWSXP, 0, "run");
    int file = nameless_file();
    if (file >= 0 && !write_all(file, RAW(bytes), (size_t)Rf_xlength(bytes))) {
        close(file);
        file = -1;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && access(path, R_OK) != 0) {
        close(file);
        file = -1;
    }
    return Rf_ScalarInteger(file);
}

SEXP r_memory_close(SEXP file)
{
    close(Rf_asInteger(file));
    return R_NilValue;
}
