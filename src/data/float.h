/* From rows of doubles to rows of floats. */
#ifndef DATA_FLOAT_H
#define DATA_FLOAT_H

#include "data/rows.h"

/* In place. Moments and hash are the caller's to take anew. */
void floats_from_doubles(rows *r);

#endif
