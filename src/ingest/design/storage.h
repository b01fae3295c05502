/* How a table is to be stored, and the making of a sparse one. */
#ifndef INGEST_STORAGE_H
#define INGEST_STORAGE_H

#include "ingest/design/design_matrix.h"

/* One row's entries, and how many there are of all rows. */
typedef struct {
    uint32_t *column; /* room for one a feature */
    double *value;
    size_t total;
    bool ones;                      /* every value is 1 */
    const formula_scratch *scratch; /* for a formula */
} entries;

/* Rows as read on their way into the table; `scratch`, `each` and `line` are of each thread. */
typedef struct {
    design *g;
    const chunks *read;
    const size_t *to;              /* the place of each row */
    const struct grouping *groups; /* of a formula */
    formula_scratch *scratch;
    unsigned threads;
    entries *each;
    double **line; /* NULL where rows are not packed */
} moving;

/* Room for the entries of a row, for each thread. Clear it also after a failure. */
sbps_status entries_open(const design *g, unsigned threads, entries *e, sbps_error *err);
void entries_clear(entries *e, unsigned threads);

/* A sentence for what cannot be had. */
sbps_status storage_check(const rows_spec *spec, sbps_error *err);
/* Whether `spec` leaves it to the number of entries, or wants them anyway. */
bool storage_depends(const rows_spec *spec);
/* What spec->storage asks for, or what is cheapest for so many entries a row. */
const storage_kind *storage_of(const rows_spec *spec, size_t stride, double each);

/* Entries beyond which a table is not sparse where the choice is free. */
double storage_max_entries(const rows *r);

/* Before the rows are read, where their number is known: will they fit in memory? */
sbps_status storage_fits(const column_schema *p, const rows_spec *spec, sbps_error *err);
/* What spec->storage asks for, or what is cheapest. Where that is sparse, start, column and value
 * of g->r are made, start being filled for rows that go to to[0], to[1], ... */
sbps_status storage_choose(const moving *m, const storage_kind **out, sbps_error *err);
/* Rows whose start[i + 1] is the number of entries of row i become sparse, with room for e->total of them. */
sbps_status sparse_create(rows *r, const entries *e, sbps_error *err);
/* The entries of a row as read to row `to` of a sparse table, whose start is known. Returns how
 * many. */
size_t sparse_put(const design *g, const double *row, size_t to, entries *e);

#endif
