#include "linalg/blas.h"

#include <cblas.h>
#include <sys/mman.h>

/* What OpenBLAS maps at its first call and keeps: 128 MiB, and a page to spare. */
#define OPENBLAS_BYTES (((size_t)128 << 20) + 4096)

sbps_status blas_begin(sbps_error *err)
{
    void *block =
        mmap(NULL, OPENBLAS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return fail(err, SBPS_NO_MEM, "out of memory: linear algebra needs 128 MiB of its own");
    munmap(block, OPENBLAS_BYTES);
    openblas_set_num_threads(1);
    return SBPS_OK;
}
