/* A text file that is read row by row: its format, columns and schema. */
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include "core/kind_tables.h"
#include "ingest/schema/column_schema.h"
#include "ingest/text/text_file.h"

/* ---- formats ----
 *
 * File formats: a format_kind turns text into rows. To add one, write its file and extend
 * FORMAT_KINDS. */

/* What became of the row just read. */
typedef enum {
    ROW_KEPT,
    ROW_DROPPED, /* a cell is missing */
    ROW_END      /* there was no row */
} row_fate;

typedef struct {
    const char *name;
    /* Returns whether a file that begins with [begin, end) has this format. */
    bool (*recognise)(const char *begin, const char *end);
    /* Reads what precedes the rows, fills *out with the columns and sets *self. Borrows the
     * source. */
    sbps_status (*open)(text_file *source, const rows_spec *spec, columns *out, void **self,
                        sbps_error *err);
    /* Reads the next row into p->width doubles, unless *fate is not ROW_KEPT. */
    sbps_status (*next)(void *self, const column_schema *p, double *row, row_fate *fate,
                        sbps_error *err);
    /* Frees self. */
    void (*close)(void *self);
    /* Joins the types of cells into known->types, for records that begin within the next
     * `bytes`. SIZE_MAX: all records to the end; the source has then moved. NULL: all cells are
     * numbers. */
    sbps_status (*sniff)(void *self, const columns *known, size_t bytes, sbps_error *err);
    /* Returns a second reader, of a view of the file that begins at a record. It borrows from
     * `self`, which must outlive it. NULL: no memory. */
    void *(*fork)(const void *self, text_file *view);
    /* Frees a fork. */
    void (*join)(void *fork);
} format_kind;

/* In the order in which they are tried; CSV accepts every text. */
#define FORMAT_KINDS(X)                                                                        \
    X(format, libsvm)                                                                          \
    X(format, csv)

FORMAT_KINDS(KIND_DECLARED)

/* ---- sources ---- */

typedef struct row_source {
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
