/* Tables of rows made on the fly, as options ask for them. */
#ifndef INFERENCE_GENERATE_TABLE_H
#define INFERENCE_GENERATE_TABLE_H

#include "table/rows.h"

typedef struct sbps_options sbps_options;

#define GENERATED_DIM ((size_t)20) /* columns, unless --dim says how many */

/* path: of a file that was named all the same, or NULL. */
sbps_status table_generate(const sbps_options *o, const char *path, rows **out,
                           sbps_error *err);

#endif
