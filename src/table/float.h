/* From rows of doubles to rows of floats. */
#ifndef TABLE_FLOAT_H
#define TABLE_FLOAT_H

#include "table/rows.h"

/* In place. Moments and hash are the caller's to take anew. */
void floats_from_doubles(rows *r);

#endif
