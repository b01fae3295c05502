/* What a control variate knows of rows of a table that is lean (data/rows.h): they are asked again at every look, where
 * others have it lying in an array. For the files of this folder. */
#ifndef POTENTIAL_LEAN_H
#define POTENTIAL_LEAN_H

#include "potential/minibatch.h"

/* Doubles a row of a block that asking takes: 0 of tables that are not lean. */
size_t lean_blocks(const posterior *target);

/* A control variate's numbers: those of row i of a range are at row_index(at, i) of its arrays, auxiliaries `pitch` apart. */
typedef struct {
    const control *cv;
    row_range at;
    size_t pitch;
} asked_rows;

/* Of rows with these targets, no more than a block; there is a control variate. */
asked_rows lean_ask(minibatch *u, row_range r, const double *y);
/* Base and curvature of slopes of n rows, whose products with cv->at lie in u->asked. */
void lean_base(minibatch *u, size_t n, slope_terms *s);

#endif
