/* Synthetic tables. */
#ifndef INFERENCE_SIMULATE_TABLE_H
#define INFERENCE_SIMULATE_TABLE_H

#include "core/status.h"

/* As sbps_simulate. */
sbps_status simulate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err);

/* As sbps_generate. */
sbps_status generate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err);

#endif
