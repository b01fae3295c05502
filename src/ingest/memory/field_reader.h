/* Tables that come as runs of rows of columns in memory. */
#ifndef INGEST_FIELD_READER_H
#define INGEST_FIELD_READER_H

#include "ingest/memory/fields.h"
#include "ingest/memory/sparse_cells.h"
#include "ingest/text/parts.h"

/* What is known of a column before its first row. */
typedef struct {
    const char *name; /* borrowed for the call; NULL: none */
    column_type type;
    bool ordered; /* its levels have an order of their own: as they are listed */
    const char
        *refused; /* why its cells cannot be read, should they be wanted; NULL: they can */
} field_about;

/* Rows that are for something else than a table. Members that are NULL: as for one. */
typedef struct {
    /* What becomes of the columns; *out is destroyed also after a failure. */
    sbps_status (*make_schema)(const void *self, const columns *c, column_schema **out,
                               sbps_error *err);
    const void *self;
    const row_taker *to; /* has the rows as they come, a slice at a time; they stay otherwise */
    /* In the place of that: has them by any thread, `worker` saying which, and in any order, as they were read from row
     * `first` on, slices with rows dropped left out. */
    void (*put)(void *putter, unsigned worker, size_t first, const chunks *read);
    void *putter;
} field_purpose;

/* Columns before those of fields that are a sparse matrix'. */
typedef struct {
    const sparse_cells *cells; /* NULL: there are none */
    size_t *careful;           /* those that are no plain numbers */
    size_t careful_count;
} field_matrix;

typedef struct field_slice field_slice;

typedef struct {
    const rows_spec *spec; /* borrowed */
    field_purpose purpose;
    columns names;
    column_types types;
    na_strings missing;
    bool *ordered; /* one a column */
    column_schema *schema;
    field_matrix matrix;
    chunks read;
    field_slice *slice; /* one a thread */
    unsigned threads;
    size_t seen, dropped; /* rows so far */
} field_reader;

/* What there is to be read, and for what; members that are NULL: nothing, and a table. */
typedef struct {
    const rows_spec *spec;
    const field_purpose *purpose;
    const sparse_cells *sparse;
} field_wants;

/* Plans the columns. Close it also after a failure. */
sbps_status field_reader_open(const field_about *about, size_t count, const field_wants *how,
                              field_reader *r, sbps_error *err);
/* The next rows: fields[c] is a run of them of column c, of no use once this returns. Those of a sparse matrix are all of
 * them. */
sbps_status field_reader_add(field_reader *r, const field *fields, size_t row_count,
                             sbps_error *err);
/* None was read yet. */
void field_reader_rewind(field_reader *r);
/* The table of them all. */
sbps_status field_reader_finish(field_reader *r, rows **out, sbps_error *err);
void field_reader_close(field_reader *r);

/* ---- where fields come from ---- */

/* Columns of a caller, or a stream of batches of them. */
typedef struct field_source field_source;
struct field_source {
    field_reader reader;
    /* All rows to the reader, once. */
    sbps_status (*read)(field_source *s, sbps_error *err);
    void (*close)(field_source *s);
};

/* Opened, which may have failed: close it anyway. What is given is borrowed until then, a stream released. */
sbps_status columns_source(const sbps_frame *from, const rows_spec *spec,
                           const field_purpose *purpose, field_source **out, sbps_error *err);
sbps_status arrow_source(struct ArrowArrayStream *stream, const rows_spec *spec,
                         const field_purpose *purpose, field_source **out, sbps_error *err);
void field_source_close(field_source *s);

#endif
