/* Tables of any length whose rows and targets are generated on the fly (--generate). */
#ifndef MODEL_GENERATED_TARGETS_H
#define MODEL_GENERATED_TARGETS_H

#include "table/generated_rows.h"

/* Makes *out, a table of n generated rows with targets of `model`: logistic, linear or poisson;
 * the caller destroys it. True weights and rows depend on seed, model and `features` only, so
 * that they are the same with and without an intercept, whose true weight is 0. */
sbps_status generated_rows(const char *model, size_t n, size_t features, bool intercept,
                           uint64_t seed, rows **out, sbps_error *err);

#endif
