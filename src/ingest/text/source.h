/* A text file that is read row by row: its format, columns and schema. */
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include "ingest/text/format.h"

typedef struct {
    text_file *source;
    columns names;
    const format_kind *kind;
    void *self; /* of the kind */
    na_strings missing;
    column_schema *schema;
    size_t kept, dropped; /* rows so far */
    bool of_several;      /* one of several files: it may have fewer than two rows */
} row_source;

/* Opens the text, recognises its format and creates its schema. Types of columns are at least
 * those in *types. Close *s also after a failure. */
sbps_status source_open(const text_input *from, const rows_spec *spec, column_types *types,
                        row_source *s, sbps_error *err);
/* The same without the schema. */
sbps_status source_begin(const text_input *from, const rows_spec *spec, column_types *types,
                         row_source *s, sbps_error *err);
/* Reads the next row into schema->width doubles, unless *fate is not ROW_KEPT. Fails at the end
 * if too few rows were kept. */
sbps_status source_next(row_source *s, double *row, row_fate *fate, sbps_error *err);
/* Call with the status of reading. If a cell contradicted the type of its column, infers types
 * from all cells to the end; the source must then be opened again. Returns `status` or a new
 * failure. */
sbps_status source_retype(row_source *s, sbps_status status, sbps_error *err);
/* Frees everything in *s. */
void source_close(row_source *s);

/* Fails if fewer than two rows were kept. */
sbps_status check_row_count(const char *path, size_t kept, size_t dropped, sbps_error *err);

#endif
