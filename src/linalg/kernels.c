/* Selection of the kernel variant. */
#include "linalg/kernels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const kernels *table;
    bool (*is_supported)(void);
} variant;

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/* From the slowest to the fastest. */
static const variant variants[] = {
    {&kernels_scalar, always},
#if defined(__x86_64__)
    {&kernels_avx2, has_avx2},
    {&kernels_avx512, has_avx512},
#endif
};

const kernels *kernels_at(size_t index)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (!variants[i].is_supported()) continue;
        if (index-- == 0) return variants[i].table;
    }
    return NULL;
}

const kernels *kernels_best(void)
{
    const char *requested = getenv("SBPS_ISA");
    const kernels *best = &kernels_scalar, *next;
    for (size_t i = 0; (next = kernels_at(i)); i++) {
        best = next;
        if (requested && strcmp(next->isa, requested) == 0) break;
    }
    return best;
}
