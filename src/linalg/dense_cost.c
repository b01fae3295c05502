/* Memory that dense linear algebra needs. */
#include "linalg/dense_cost.h"
#include "core/memory.h"

#include <cblas.h>
#include <sys/mman.h>

/* What OpenBLAS maps at its first call and keeps: 128 MiB, and a page to spare. */
#define OPENBLAS_BYTES (((size_t)128 << 20) + 4096)

double dense_bytes(double columns)
{
    return sizeof(double) * columns * columns;
}

double setup_bytes(double columns)
{
    return SETUP_MATRICES * dense_bytes(columns);
}

bool setup_fits(double columns)
{
    return setup_bytes(columns) <= MEMORY_REQUEST_FRACTION * machine_memory();
}

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
