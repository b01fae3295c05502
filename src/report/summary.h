/* The parameters of a summary and the formats it can take. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/columns.h"
#include "report/text.h"

/* All parameters of r, malloced; the names are borrowed from r. */
sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err);

void write_table(text *t, const result *r, const sbps_parameter *parameters);
void write_csv(text *t, const result *r, const sbps_parameter *parameters);
void write_json(text *t, const result *r, const sbps_parameter *parameters);

/* Rows touched per effective sample; NAN when unknown. */
double rows_per_sample(const result_info *info);

#endif
