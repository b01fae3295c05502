/* What must be so before BLAS or LAPACK are called. */
#ifndef LINALG_BLAS_H
#define LINALG_BLAS_H

#include "core/status.h"

/* One thread: its sums are then the same on every machine size, and chains own the cores. Fails where
 * there is no room for OpenBLAS's own memory, for which it would wait forever. */
sbps_status blas_begin(sbps_error *err);

#endif
