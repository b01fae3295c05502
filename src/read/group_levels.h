/* The levels of a factor that groups rows, and the level of every row. */
#ifndef READ_GROUP_LEVELS_H
#define READ_GROUP_LEVELS_H

#include "data/groups.h"
#include "read/design.h"

/* Name and levels of to: those that rows have, in order. of[i]: the level of row i, in the order in which rows
 * were read. */
sbps_status group_levels(const design *g, const formula_group *from, const chunks *read,
                         group_factor *to, sbps_error *err);

#endif
