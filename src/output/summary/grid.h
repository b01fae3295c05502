/* A table of numbers with a name in front of each row: for people, and as CSV. */
#ifndef OUTPUT_GRID_H
#define OUTPUT_GRID_H

#include "output/summary/report_text.h"
#include "output/summary/summary_columns.h"

typedef struct {
    const char *heading;   /* of the names */
    const column *columns; /* one without a name ends them; `offset` is in a row */
    const void *rows;
    size_t count, stride; /* bytes from row to row */
    size_t name, sd; /* offsets in a row: of its name, and of the double that rules digits */
} grid;

/* That of a summary. */
#define PARAMETER_GRID(parameters, dim)                                                        \
    .heading = "name", .columns = table_columns, .rows = (parameters), .count = (dim),         \
    .stride = sizeof(sbps_parameter), .name = offsetof(sbps_parameter, name),                  \
    .sd = offsetof(sbps_parameter, sd)

/* Digits: the sd of a row is shown to three significant digits and its values to as many decimals, since
 * more would be noise to a reader; errors to two significant digits. */
void grid_table(text *t, const grid *g);
/* RFC 4180, lines end with a line feed alone: ten digits, NaN as NaN. */
void grid_csv(text *t, const grid *g);
/* ", "mean": 1.5, ..." as JSON goes on behind a name. */
void grid_json_row(text *t, const grid *g, size_t index);

const void *grid_row(const grid *g, size_t index);
const char *grid_name(const grid *g, size_t index);

#define GRID_CELL 32 /* bytes */

/* One cell as the table for people shows it; `sd` is that of its row. */
void grid_cell(const column *c, const void *row, double sd, char *cell);

#endif
