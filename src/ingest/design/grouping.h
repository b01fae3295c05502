/* Groups of a formula: their levels, what varies with them, and rows of a group laid one behind another. */
#ifndef INGEST_GROUPING_H
#define INGEST_GROUPING_H

#include "ingest/design/design_matrix.h"
#include "table/row_groups.h"

typedef struct grouping {
    uint32_t *
        *code; /* of each factor: the level of every row, as rows were read; NULL: no groups */
    size_t **column; /* of each term: where its columns go in z */
} grouping;

/* Factors and terms of g->r->groups, where the formula has some. Close it also after a failure. */
sbps_status grouping_open(design *g, const chunks *read, grouping *w, sbps_error *err);
/* to[i]: the place of row i, which was given by a shuffle; rows of a group come together, groups in random
 * order, within a group in that of the shuffle. */
sbps_status grouping_places(design *g, const grouping *w, size_t *to, sbps_error *err);
/* Row `from`, whose values are in `s`, lies at `to`. */
void grouping_put(const design *g, const grouping *w, const formula_scratch *s, size_t from,
                  size_t to);
void grouping_close(const design *g, grouping *w);

#endif
