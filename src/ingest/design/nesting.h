/* Factors within factors. */
#ifndef INGEST_NESTING_H
#define INGEST_NESTING_H

#include "table/row_groups.h"

/* Chooses r->by and the factors nested in it, by the levels of n rows, code[factor][row]. */
sbps_status nesting_find(row_groups *r, uint32_t *const *code, size_t n, sbps_error *err);

#endif
