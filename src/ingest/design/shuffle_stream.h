/* Rows on their way through the shuffle of a conversion (table/shuffle.h), without their zeros
 * where those are many. On the way entries are counted, and the values that transforms of all
 * rows need are kept: one number per row and transform, far less than the rows. */
#ifndef INGEST_SHUFFLE_STREAM_H
#define INGEST_SHUFFLE_STREAM_H

#include "ingest/design/design_matrix.h"
#include "ingest/text/source.h"
#include "table/shuffle.h"

/* The arguments of a formula's transforms in all rows so far. */
typedef struct {
    const formula *of; /* borrowed; NULL: nothing is kept */
    double **value;    /* of each variable that needs all rows; NULL for others */
    size_t rows, capacity;
} kept_values;

typedef struct {
    const column_schema *schema; /* borrowed */
    bool packed;                 /* rows are stored without their zeros */
    bool counted;                /* the storage of the table depends on the number of entries */
    double *row;                 /* scratch: an unpacked row */
    size_t numbers;              /* cells of numeric features other than 0 */
    bool ones;                   /* all of them are 1 */
    shuffle *order;
    kept_values kept;
} shuffle_stream;

/* Opens a stream of rows of a source; `output_path` and `memory` as in shuffle_create. Close it
 * also after a failure. */
sbps_status shuffle_stream_open(const row_source *s, const rows_spec *spec,
                                const char *output_path, size_t memory, shuffle_stream *w,
                                sbps_error *err);
/* Adds rows, which are packed if w->packed. */
sbps_status shuffle_stream_add(shuffle_stream *w, const chunks *read, sbps_error *err);
/* Returns the row of a shuffled record; valid until the next call. */
const double *shuffle_stream_row(const shuffle_stream *w, const double *record);
/* Returns the values of transforms' arguments in all rows added, for formula_fit. */
row_values shuffle_stream_values(shuffle_stream *w);
/* Returns the entries of the table without the intercept's; all rows have been added. */
size_t shuffle_stream_entries(const shuffle_stream *w, const design *g);
/* Returns the cells of numeric features of a row other than 0; sets *ones to false if one of
 * them is not 1. */
size_t count_numbers(const column_schema *p, const double *row, bool *ones);
/* Returns the entries of categories: one per row unless it has the first level. */
size_t category_entries(const design *g);
void shuffle_stream_close(shuffle_stream *w);

#endif
