/* Tables of rows made on the fly whose targets a model could have given. */
#ifndef MODEL_GENERATED_TARGETS_H
#define MODEL_GENERATED_TARGETS_H

#include "table/generated_rows.h"

/* Weights and rows are a function of seed, model and the number of columns, whether the
 * design has an intercept or not: its true weight is 0. */
sbps_status generated_rows(const char *model, size_t n, size_t features, bool intercept,
                           uint64_t seed, rows **out, sbps_error *err);

#endif
