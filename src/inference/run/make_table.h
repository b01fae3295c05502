/* Tables written to disk: converted from text, or simulated. */
#ifndef INFERENCE_MAKE_TABLE_H
#define INFERENCE_MAKE_TABLE_H

#include "inference/options/options.h"

/* As sbps_table_convert. */
sbps_status convert_table(const char *from, const char *to, const sbps_options *options,
                          size_t memory, sbps_convert_watch watch, void *self, sbps_error *err);
/* As sbps_simulate. */
sbps_status simulate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err);
/* As sbps_generate. */
sbps_status generate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err);

#endif
