/* Tables that come as runs of rows of columns in memory. */
#ifndef READ_FIELD_READER_H
#define READ_FIELD_READER_H

#include "read/fields.h"
#include "read/plan.h"

/* What is known of a column before its first row. */
typedef struct {
    const char *name; /* borrowed for the call; NULL: none */
    column_type type;
    bool ordered; /* its levels have an order of their own: as they are listed */
    const char
        *refused; /* why its cells cannot be read, should they be wanted; NULL: they can */
} field_about;

typedef struct field_slice field_slice;

typedef struct {
    const rows_spec *spec; /* borrowed */
    columns names;
    column_types types;
    missing_words missing;
    bool *ordered; /* one a column */
    plan *plan;
    chunks read;
    field_slice *slice; /* one a thread */
    unsigned threads;
    size_t seen, dropped; /* rows so far */
} field_reader;

/* Plans the columns. Close it also after a failure. */
sbps_status field_reader_open(const field_about *about, size_t count, const rows_spec *spec,
                              field_reader *r, sbps_error *err);
/* The next rows: fields[c] is a run of them of column c, of no use once this returns. */
sbps_status field_reader_add(field_reader *r, const field *fields, size_t row_count,
                             sbps_error *err);
/* The table of them all. */
sbps_status field_reader_finish(field_reader *r, rows **out, sbps_error *err);
void field_reader_close(field_reader *r);

#endif
