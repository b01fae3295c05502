/* Rows as read on their way through the shuffle, without their zeros where those are many, and counted
 * on the way. */
#ifndef INGEST_SHUFFLE_STREAM_H
#define INGEST_SHUFFLE_STREAM_H

#include "ingest/design/design_matrix.h"
#include "ingest/design/kept_values.h"
#include "ingest/text/source.h"
#include "table/shuffle.h"

typedef struct {
    const column_schema *schema; /* borrowed */
    bool packed;                 /* rows go without their zeros */
    bool counted;                /* how the table is stored depends on its entries */
    double *row;                 /* a packed one as it was read */
    size_t numbers;              /* cells of features that are numbers and not 0 */
    bool ones;                   /* all of those are 1 */
    shuffle *order;
    kept_values kept; /* for a formula */
} shuffle_stream;

/* `beside` and `memory` as in shuffle_create. Close it also after a failure. */
sbps_status shuffle_stream_open(const row_source *s, const rows_spec *spec, const char *beside,
                                size_t memory, shuffle_stream *w, sbps_error *err);
/* Rows go in, packed as w says. */
sbps_status shuffle_stream_add(shuffle_stream *w, const chunks *read, sbps_error *err);
/* The row that a record of the shuffle is; valid until the next. */
const double *shuffle_stream_row(const shuffle_stream *w, const double *record);
/* Entries of the table that the rows will be, the intercept left out; all rows have been read. */
size_t shuffle_stream_entries(const shuffle_stream *w, const design *g);
/* Cells of a row as read that are numbers and not 0; *ones is false where some of them are not 1. */
size_t count_numbers(const column_schema *p, const double *row, bool *ones);
/* Entries that categories make: one a row unless its level is the first. */
size_t category_entries(const design *g);
void shuffle_stream_close(shuffle_stream *w);

#endif
