/* Additions to a text that reports share: padded names, numbers, paragraphs and tables. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include "core/text.h"

/* Display columns that a UTF-8 string takes on a terminal. */
size_t text_columns(const char *bytes);

/* Adds a name and spaces up to `columns` display columns; a wider name gets no spaces. */
void text_padded_name(text *t, const char *name, size_t columns);

/* Adds a whole number, or a number to three significant digits; "unknown" for NAN. */
void text_count(text *t, double count);
void text_measure(text *t, double value);

/* Adds "0.0125 +- 0.006"; the standard error is omitted where it is NAN or 0. */
void text_estimate(text *t, double value, double error);

/* Adds words, broken between words so that lines have at most `columns` columns, and a line
 * end. The first line continues the current line of t; later ones are indented by `indent`
 * spaces. */
void text_paragraph(text *t, size_t columns, size_t indent, const char *words);

/* ---- a table of numbers with a name in front of each row: as text, CSV and JSON ---- */

/* What a number is. It decides how many digits the text table shows. */
typedef enum {
    CELL_VALUE, /* as many decimals as the row's sd has at three significant digits */
    CELL_ERROR, /* two significant digits */
    CELL_COUNT, /* no decimals */
    CELL_RATIO  /* three decimals */
} cell_kind;

/* One column of a table of structs. */
typedef struct {
    const char *name, *summary; /* heading, and one sentence for help pages (NULL: none) */
    cell_kind kind;
    bool from_draws; /* summary.c: `source` is in a draw_summary, else an array in a result */
    size_t source;   /* summary.c: byte offset of the number that fills this column */
    size_t offset;   /* byte offset of a double in a row */
} column;

enum { MAX_COLUMNS = 32 };

/* The number of this column in `row`. */
double column_value(const column *c, const void *row);

/* A table: an array of structs, and which of their members are shown. Nothing is owned. */
typedef struct {
    const char *heading;   /* heading of the names */
    const column *columns; /* ends with a column whose name is NULL; at most MAX_COLUMNS */
    const void *rows;
    size_t count, stride; /* rows, and bytes from one row to the next */
    size_t name, sd; /* byte offsets in a row: a const char *, and a double (see grid_cell) */
} grid;

/* Adds the table with aligned columns: names to the left, numbers to the right. */
void grid_table(text *t, const grid *g);
/* Display columns of names and numbers, so that tables of parts of the rows are aligned. */
typedef struct {
    size_t name, cell[MAX_COLUMNS];
} grid_widths;
grid_widths grid_measure(const grid *g);
/* grid_table with these widths. */
void grid_part(text *t, const grid *g, const grid_widths *w);
/* Adds CSV (RFC 4180, lines end with a line feed): ten significant digits, NaN as NaN. */
void grid_csv(text *t, const grid *g);
/* Adds `, "mean": 1.5, ...` for one row: the JSON members that follow its name. */
void grid_json_row(text *t, const grid *g, size_t index);

/* The row at `index`, and its name. */
const void *grid_row(const grid *g, size_t index);
const char *grid_name(const grid *g, size_t index);

#define GRID_CELL 32 /* bytes */

/* Writes one number into cell[GRID_CELL] as grid_table shows it, "-" for NaN. `sd` is the
 * standard deviation of its row: values get as many decimals as it has at three significant
 * digits. */
void grid_cell(const column *c, const void *row, double sd, char *cell);

#endif
