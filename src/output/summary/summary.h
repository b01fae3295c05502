/* The parameters of a summary and the formats it can take. */
#ifndef OUTPUT_SUMMARY_H
#define OUTPUT_SUMMARY_H

#include "output/summary/report_text.h"
#include "output/summary/summary_columns.h"

/* All parameters of r, malloced; the names are borrowed from r. */
sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err);

void write_table(text *t, const result *r, const sbps_parameter *parameters);
void write_csv(text *t, const result *r, const sbps_parameter *parameters);
void write_json(text *t, const result *r, const sbps_parameter *parameters);

/* Rows touched per effective sample; NAN when unknown. */
double rows_per_sample(const result_info *info);

#endif
