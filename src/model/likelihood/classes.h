/* Targets that are classes. */
#ifndef MODEL_CLASSES_H
#define MODEL_CLASSES_H

#include "table/rows.h"

/* How many classes 0, 1, ..., K-1 the target holds: K >= 2 and every one of them occurs, else a
 * sentence in the name of `model` says what is wrong. */
sbps_status classes_count(const rows *data, const char *model, size_t *count, sbps_error *err);

#endif
