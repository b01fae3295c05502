/* The columns of a summary and the formats it can take. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/report.h"
#include "report/text.h"

/* What a number stands for, which decides its digits in the table for people. */
typedef enum { CELL_VALUE, CELL_ERROR, CELL_COUNT, CELL_RATIO } cell_kind;

typedef struct {
    const char *name;
    size_t offset; /* of a double in sbps_parameter */
    cell_kind kind;
} column;

#define SUMMARY_COLUMNS 10

/* Everything but the name, which comes first. */
extern const column summary_columns[SUMMARY_COLUMNS];
/* What follows in JSON alone. */
#define FURTHER_COLUMNS 3
extern const column further_columns[FURTHER_COLUMNS];
double column_value(const column *c, const sbps_parameter *p);

/* All parameters of r, malloced; the names are borrowed from r. */
sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err);

void write_table(text *t, const result *r, const sbps_parameter *parameters);
void write_csv(text *t, const result *r, const sbps_parameter *parameters);
void write_json(text *t, const result *r, const sbps_parameter *parameters);

/* Rows touched per effective sample; NAN when unknown. */
double rows_per_sample(const result_info *info);

#endif
