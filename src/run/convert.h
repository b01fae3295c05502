/* From text to a table on disk. */
#ifndef RUN_CONVERT_H
#define RUN_CONVERT_H

#include "choose/options.h"

/* As sbps_table_convert. */
sbps_status convert_table(const char *from, const char *to, const sbps_options *options,
                          size_t memory, sbps_convert_watch watch, void *self, sbps_error *err);

#endif
