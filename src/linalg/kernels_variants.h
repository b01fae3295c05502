/* The variants of the kernels, one file each. Only kernels.c chooses among them. */
#ifndef LINALG_KERNELS_VARIANTS_H
#define LINALG_KERNELS_VARIANTS_H

#include "linalg/kernels.h"

extern const kernels kernels_scalar;
#if defined(__x86_64__)
extern const kernels kernels_avx2;
extern const kernels kernels_avx512;
#endif

#endif
