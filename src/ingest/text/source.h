/* A text file being read row by row. */
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include "ingest/text/format.h"

typedef struct {
    text_file *source;
    columns names;
    const format_kind *kind;
    void *self; /* the kind's */
    na_strings missing;
    column_schema *schema;
    size_t kept, dropped; /* rows so far */
    bool of_several;      /* one of several files: it may have less than two rows */
} row_source;

/* Tells the format and plans the columns, whose types are at least those `found` before. Close it also
 * after a failure. */
sbps_status source_open(const text_input *from, const rows_spec *spec, column_types *types,
                        row_source *s, sbps_error *err);
/* The same as far as it can be without a plan. */
sbps_status source_begin(const text_input *from, const rows_spec *spec, column_types *types,
                         row_source *s, sbps_error *err);
/* The next row into plan->width doubles, unless it is dropped or there is none left; at the end
 * fails when too few were kept. */
sbps_status source_next(row_source *s, double *row, row_fate *fate, sbps_error *err);
/* After a failure: where a cell contradicted the type of its column, looks at all cells to the end, and the
 * source must be opened once more. */
sbps_status source_retype(row_source *s, sbps_status status, sbps_error *err);
void source_close(row_source *s);

/* A posterior needs two rows. */
sbps_status check_row_count(const char *path, size_t kept, size_t dropped, sbps_error *err);

#endif
