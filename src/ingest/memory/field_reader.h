/* Tables from columns in memory, which come as runs of rows. */
#ifndef INGEST_FIELD_READER_H
#define INGEST_FIELD_READER_H

#include "ingest/memory/fields.h"
#include "ingest/schema/column_schema.h"
#include "ingest/text/parts.h"
#include "table/rows.h"

struct row_taker;

/* What is known of a column before its first row. */
typedef struct {
    const char *name; /* borrowed for the call; NULL: none */
    column_type type;
    bool ordered; /* its levels are in their own order */
    const char
        *refused; /* type of cells that cannot be read, for the message; NULL: they can */
} field_info;

/* Rows that are read for another purpose than a table. Members that are NULL: as for a
 * table. */
typedef struct {
    /* Creates the column schema; *out is destroyed also after a failure. */
    sbps_status (*make_schema)(const void *self, const columns *c, column_schema **out,
                               sbps_error *err);
    const void *self;
    const row_taker
        *to; /* receives the rows a slice at a time, in order; NULL: they are kept */
    /* Instead of that: receives slices in any order and on any thread (`worker`), as they were
     * read from row `first` on. Slices with dropped rows are left out. */
    void (*put)(void *putter, unsigned worker, size_t first, const chunks *read);
    void *putter;
} field_purpose;

/* A sparse matrix whose columns come before those of the fields. */
typedef struct {
    const sparse_cells *cells; /* NULL: none */
    size_t *careful;           /* columns that are not plain numbers */
    size_t careful_count;
} field_matrix;

typedef struct field_slice field_slice;

typedef struct {
    const rows_spec *spec; /* borrowed */
    field_purpose purpose;
    columns names;
    column_types types;
    na_strings missing;
    bool *ordered; /* of each column */
    column_schema *schema;
    field_matrix matrix;
    chunks read;
    field_slice *slice; /* per thread */
    unsigned threads;
    size_t seen, dropped; /* rows so far */
} field_reader;

/* What is to be read, and what for. */
typedef struct {
    const rows_spec *spec;
    const field_purpose *purpose; /* NULL: for a table */
    const sparse_cells *sparse;   /* NULL: none */
} field_request;

/* Creates the column schema. Close the reader also after a failure. */
sbps_status field_reader_open(const field_info *about, size_t count, const field_request *how,
                              field_reader *r, sbps_error *err);
/* Reads the next `row_count` rows: fields[c] is a run of them of column c, not used after this
 * returns. With a sparse matrix they are all rows. */
sbps_status field_reader_add(field_reader *r, const field *fields, size_t row_count,
                             sbps_error *err);
/* Forgets all rows read so far. */
void field_reader_rewind(field_reader *r);
/* Makes the table of all rows read. */
sbps_status field_reader_finish(field_reader *r, rows **out, sbps_error *err);
void field_reader_close(field_reader *r);

/* ---- sources of fields ---- */

/* The columns of a caller, or a stream of batches of them. */
typedef struct field_source field_source;
struct field_source {
    field_reader reader;
    /* Passes all rows to the reader, once. */
    sbps_status (*read)(field_source *s, sbps_error *err);
    void (*close)(field_source *s);
};

/* Open a source. Arguments are borrowed until it is closed, also after a failure; closing
 * releases the stream. */
sbps_status columns_source(const sbps_frame *from, const rows_spec *spec,
                           const field_purpose *purpose, field_source **out, sbps_error *err);
sbps_status arrow_source(struct ArrowArrayStream *stream, const rows_spec *spec,
                         const field_purpose *purpose, field_source **out, sbps_error *err);
void field_source_close(field_source *s); /* NULL is fine */

/* ---- direct_columns.c: tables from columns without a copy of the rows in between ---- */

/* Reads all n rows straight to their places in a table; the reader has read none yet. *out is
 * NULL for a table that cannot be made this way: small, sparse, with categories, with
 * transforms of all rows, or with dropped rows. The reader is then as it was. */
sbps_status direct_columns_create(field_reader *r, const field *fields, size_t n, rows **out,
                                  sbps_error *err);

/* Returns whether the user asked for --storage given. */
bool borrowed_columns_requested(const rows_spec *spec);
/* Creates a table of n rows whose columns stay in the caller's memory, which is borrowed until
 * the table is destroyed. Fails where a column would have to be copied. */
sbps_status borrowed_columns_create(const field_reader *r, const field *fields, size_t n,
                                    rows **out, sbps_error *err);

#endif
