/* From rows as they were read to the design matrix. */
#ifndef DATA_DESIGN_H
#define DATA_DESIGN_H

#include "data/chunks.h"
#include "data/plan.h"

/* Shuffles, expands categories, checks and standardises. Takes the rows out of `read`, chunk by
 * chunk. */
sbps_status design_create(const plan *p, const rows_spec *spec, chunks *read, rows **out,
                          sbps_error *err);
/* r->hash of everything else in r. */
uint64_t rows_hash(const rows *r);

#endif
