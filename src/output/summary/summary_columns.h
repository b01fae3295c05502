/* The columns of a summary: one list, of which table, CSV, JSON, help and man page are made. */
#ifndef OUTPUT_SUMMARY_COLUMNS_H
#define OUTPUT_SUMMARY_COLUMNS_H

#include "output/summary/report.h"

/* What a number stands for, which decides its digits in the table for people. */
typedef enum { CELL_VALUE, CELL_ERROR, CELL_COUNT, CELL_RATIO } cell_kind;

typedef struct {
    const char *name, *summary; /* one sentence */
    cell_kind kind;
    bool from_draws; /* `source` is of a double in draw_summary, else of an array in result */
    size_t source;
    size_t offset; /* of a double in a row: sbps_parameter for those of a summary */
} column;

/* Those of table and CSV: everything but the name, which comes first. One without a name ends them. */
extern const column table_columns[];
enum { MAX_COLUMNS = 32 };

double column_value(const column *c, const void *row);
/* Those and then the ones of JSON alone; NULL past the end. */
const column *column_at(size_t index);

#endif
