/* From rows of doubles to rows of floats. */
#ifndef DATA_SINGLE_H
#define DATA_SINGLE_H

#include "data/rows.h"

/* In place. Moments and hash are the caller's to take anew. */
void single_from_double(rows *r);

#endif
