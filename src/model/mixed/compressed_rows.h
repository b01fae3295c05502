/* A few rows in place of those of a group, with the same likelihood: for linear models. */
#ifndef MODEL_COMPRESSED_ROWS_H
#define MODEL_COMPRESSED_ROWS_H

#include "model/mixed/mixed.h"

/* The rows of all groups, compressed. */
struct compressed_rows {
    rows data;     /* owns x, y and weight; the rest is borrowed from the original rows */
    size_t *start; /* groups + 1: group g is the rows start[g] to start[g + 1] - 1 */
    double *z;     /* effects numbers per row: the columns of the effects, centred */
};

/* Replaces m->data, m->start and m->z by compressed rows, in one pass over the rows. To be called
 * once columns are centred, for a linear model with one factor. `groups` is the table whose rows
 * are the groups. */
sbps_status rows_compress(mixed *m, const rows *groups, sbps_error *err);
void compressed_rows_destroy(compressed_rows *c); /* NULL is fine */

#endif
