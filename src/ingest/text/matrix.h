/* Reads a square matrix from a CSV file with a header. */
#ifndef INGEST_MATRIX_H
#define INGEST_MATRIX_H

#include "core/status.h"

/* Reads a *d x *d matrix of finite numbers into *values, row-major; the caller frees it. NULL
 * after a failure. */
sbps_status matrix_read(const char *path, size_t *d, double **values, sbps_error *err);

#endif
