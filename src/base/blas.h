/* What must be so before BLAS or LAPACK are called. */
#ifndef BASE_BLAS_H
#define BASE_BLAS_H

#include "base/status.h"

/* One thread: its sums are then the same on every machine size, and chains own the cores. Fails where
 * there is no room for OpenBLAS's own memory, for which it would wait forever. */
sbps_status blas_begin(sbps_error *err);

#endif
