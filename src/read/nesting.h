/* Factors within factors. */
#ifndef READ_NESTING_H
#define READ_NESTING_H

#include "data/groups.h"

/* Chooses r->by and the factors nested in it, by the levels of n rows, code[factor][row]. */
sbps_status nesting_find(row_groups *r, uint32_t *const *code, size_t n, sbps_error *err);

#endif
