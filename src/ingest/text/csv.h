/* CSV, as its reader, its header and the look at its types see it. */
#ifndef INGEST_CSV_H
#define INGEST_CSV_H

#include "ingest/text/format.h"
#include "linalg/kernels.h"

typedef struct {
    text_file *source;
    size_t columns;
    char separator;    /* ' ': any run of blanks */
    size_t blank_line; /* the first of the blank lines just passed; 0: none */
    const kernels *k;
    char *plain; /* a quoted cell without its doubled quotes */
    size_t plain_size;
} csv;

typedef struct {
    const char *begin, *end; /* without blanks and quotes */
    const char *next;        /* behind the separator */
    size_t newlines;         /* inside quotes */
    bool doubled;            /* holds doubled quotes */
    bool last;               /* of its record */
} cell;

typedef enum { CELL_READY, CELL_CUT, CELL_OPEN_QUOTE, CELL_AFTER_QUOTE } cell_state;

/* csv_cell.c: the cell at `p`, as far as the buffer holds it. */
cell_state scan_cell(const csv *c, const char *p, cell *out);
/* How many cells the record at `p` has. */
cell_state count_cells(const csv *c, const char *p, size_t *count);
/* The cell's text with doubled quotes made single, NUL-terminated, in the scratch buffer. */
sbps_status undouble(csv *c, cell *from, sbps_error *err);
sbps_status fail_quote(const csv *c, cell_state state, size_t line, sbps_error *err);

/* csv_header.c: separator and columns; `named`: the first line tells their names. */
sbps_status csv_header(csv *c, bool named, columns *out, sbps_error *err);
/* As format_kind has it. */
sbps_status csv_sniff(void *self, const columns *known, size_t bytes, sbps_error *err);

#endif
