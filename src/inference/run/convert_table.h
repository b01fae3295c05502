/* From text to a table on disk. */
#ifndef INFERENCE_CONVERT_TABLE_H
#define INFERENCE_CONVERT_TABLE_H

#include "inference/options/options.h"

/* As sbps_table_convert. */
sbps_status convert_table(const char *from, const char *to, const sbps_options *options,
                          size_t memory, sbps_convert_watch watch, void *self, sbps_error *err);

#endif
