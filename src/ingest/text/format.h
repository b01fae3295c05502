/* File formats: a format_kind turns text into rows. To add one, write its file and extend
 * FORMAT_KINDS. */
#ifndef INGEST_FORMAT_H
#define INGEST_FORMAT_H

#include "core/kind_tables.h"
#include "ingest/schema/column_schema.h"
#include "ingest/text/text_file.h"

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

#endif
