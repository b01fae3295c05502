/* The choice of a table's storage, and the construction of sparse tables. */
#ifndef INGEST_STORAGE_H
#define INGEST_STORAGE_H

#include "ingest/design/design_matrix.h"
#include "table/rows.h"

/* The entries of one row, and counts over the rows so far. */
typedef struct {
    uint32_t *column; /* room for design_max_entries */
    double *value;
    size_t total;                   /* entries of all rows so far */
    bool ones;                      /* every value is 1 */
    const formula_scratch *scratch; /* for a formula */
} entries;

/* Rows as read, on their way into the table; `scratch`, `each` and `line` are per thread. */
typedef struct {
    design *g;
    const chunks *read;
    const size_t *to;              /* the place of each row */
    const struct grouping *groups; /* of a formula */
    formula_scratch *scratch;
    unsigned threads;
    entries *each;
    double **line; /* unpacked rows; NULL where rows are not packed */
} row_placement;

/* Allocates room for the entries of a row, for each thread. Clear it also after a failure. */
sbps_status entries_open(const design *g, unsigned threads, entries *e, sbps_error *err);
void entries_clear(entries *e, unsigned threads);

/* Fails where --storage contradicts the model or other options. */
sbps_status storage_check(const rows_spec *spec, sbps_error *err);
/* Returns whether entries must be counted: for --storage sparse, or to choose a storage. */
bool storage_depends(const rows_spec *spec);
/* Returns the storage requested, or else the fastest for `each` entries per row. */
const storage_kind *storage_of(const rows_spec *spec, size_t stride, double each);
/* Returns the number of entries beyond which a sparse table would be slower. */
double storage_max_entries(const rows *r);

/* Fails where the rows will not fit in memory; called before they are read, if their number is
 * known. */
sbps_status storage_fits(const column_schema *p, const rows_spec *spec, sbps_error *err);
/* Chooses the storage. For a sparse one it allocates start, column and value of g->r, and fills
 * start for rows at their places. */
sbps_status storage_choose(const row_placement *m, const storage_kind **out, sbps_error *err);
/* Makes rows sparse whose start[i + 1] is the number of entries of row i: cumulates start and
 * allocates room for e->total entries. */
sbps_status sparse_create(rows *r, const entries *e, sbps_error *err);
/* Writes the entries of a row as read to row `to` of a sparse table; returns how many. */
size_t sparse_put(const design *g, const double *row, size_t to, entries *e);

#endif
