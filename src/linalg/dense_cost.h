/* Memory that dense linear algebra needs: set-up forms several matrices of columns x columns
 * numbers, and OpenBLAS maps memory of its own. */
#ifndef LINALG_DENSE_COST_H
#define LINALG_DENSE_COST_H

#include "core/status.h"

#include <stdbool.h>

#define SETUP_MATRICES 6 /* most that exist at a time */

/* Bytes of one such matrix. */
double dense_bytes(double columns);
/* Bytes of all that set-up and a run hold at a time. */
double setup_bytes(double columns);
/* True if this machine has that much memory to spare. */
bool setup_fits(double columns);

/* Call before BLAS or LAPACK. Sets one thread: sums are then the same on every machine, and
 * chains use the cores. SBPS_NO_MEM where OpenBLAS cannot map its own memory, for which it
 * would wait forever. */
sbps_status blas_begin(sbps_error *err);

#endif
