/* The sides of a formula and what stands apart in them. */
#ifndef FORMULA_SPLIT_H
#define FORMULA_SPLIT_H

#include "formula/formula.h"

/* Response, right-hand side and group terms of the tree. */
sbps_status formula_split(formula *f, const node *tree, sbps_error *err);

#endif
