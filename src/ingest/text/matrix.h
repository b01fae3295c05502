/* A square matrix of numbers from a CSV file with a header. */
#ifndef INGEST_MATRIX_H
#define INGEST_MATRIX_H

#include "core/status.h"

/* values: d*d, row-major, every one finite; give back with free(). */
sbps_status matrix_read(const char *path, size_t *d, double **values, sbps_error *err);

#endif
