/* The levels of a factor that groups rows, and the level of every row. */
#ifndef INGEST_GROUP_LEVELS_H
#define INGEST_GROUP_LEVELS_H

#include "ingest/design/design_matrix.h"
#include "table/row_groups.h"

/* Name and levels of to: those that rows have, in order. of[i]: the level of row i, in the order in which rows
 * were read. */
sbps_status group_levels(const design *g, const formula_group *from, const chunks *read,
                         group_factor *to, sbps_error *err);

#endif
