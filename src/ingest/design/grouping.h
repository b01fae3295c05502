/* The groups of a formula's rows: levels, varying columns, and places that keep the rows of a
 * group together. */
#ifndef INGEST_GROUPING_H
#define INGEST_GROUPING_H

#include "ingest/design/design_matrix.h"
#include "table/row_groups.h"

typedef struct grouping {
    uint32_t **code; /* of each factor: the level of every row as read; NULL: no groups */
    size_t **column; /* of each term: the columns of z that its columns go to */
} grouping;

/* Creates the factors and terms of g->r->groups, if the formula has some. Close it also after a
 * failure. */
sbps_status grouping_open(design *g, const chunks *read, grouping *w, sbps_error *err);
/* Changes the places to[i] of rows i, which come from a shuffle, so that the rows of a group
 * are consecutive: groups in random order, rows within a group in the order of the shuffle. */
sbps_status grouping_places(design *g, const grouping *w, size_t *to, sbps_error *err);
/* Writes levels and varying columns of row `from`, evaluated in `s`, to row `to`. */
void grouping_put(const design *g, const grouping *w, const formula_scratch *s, size_t from,
                  size_t to);
void grouping_close(const design *g, grouping *w);

#endif
