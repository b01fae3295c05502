/* File formats: a kind turns text into rows of a plan. */
#ifndef INGEST_FORMAT_H
#define INGEST_FORMAT_H

#include "core/kind_tables.h"
#include "ingest/schema/column_schema.h"
#include "ingest/text/text_file.h"

typedef enum { ROW_KEPT, ROW_DROPPED, ROW_END } row_fate;

typedef struct {
    const char *name;
    /* Whether a file that begins with [begin, end) is of this format. */
    bool (*recognise)(const char *begin, const char *end);
    /* Reads what comes before the rows and tells the columns. The text is borrowed. */
    sbps_status (*open)(text_file *source, const rows_spec *spec, columns *out, void **self,
                        sbps_error *err);
    /* One row into p->width doubles, unless it is dropped or there is none left. */
    sbps_status (*next)(void *self, const column_schema *p, double *row, row_fate *fate,
                        sbps_error *err);
    void (*close)(void *self);
    /* Optional: types of the cells from here on, of records that begin within so many bytes; SIZE_MAX: to the
     * end, and the source has been moved. NULL: all are numbers. */
    sbps_status (*sniff)(void *self, const columns *known, size_t bytes, sbps_error *err);
    /* Another reader of rows, of lines that a view of the file begins with; it borrows what `self` knows
     * and is of no use after it. NULL: no memory. */
    void *(*fork)(const void *self, text_file *view);
    void (*join)(void *fork);
} format_kind;

#define FORMAT_KINDS(X)                                                                        \
    X(format, libsvm)                                                                          \
    X(format, csv)

FORMAT_KINDS(KIND_DECLARED)

/* The kind that recognises the text; CSV when no other does. */
const format_kind *format_of(const text_file *source);

#endif
