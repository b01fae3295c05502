/* The sides of a formula and what stands apart in them. */
#ifndef INGEST_SPLIT_SIDES_H
#define INGEST_SPLIT_SIDES_H

#include "ingest/formula/formula.h"

/* Response, right-hand side and group terms of the tree. */
sbps_status formula_split(formula *f, const node *tree, sbps_error *err);

#endif
