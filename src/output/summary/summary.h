/* The summary of a run: one row per parameter, as a table, CSV or JSON. */
#ifndef OUTPUT_SUMMARY_H
#define OUTPUT_SUMMARY_H

#include "output/summary/report_text.h"
#include "store/result.h"

/* Columns of the table and of CSV, after the name. They end with a column whose name is
 * NULL. */
extern const column table_columns[];

/* The columns of the table, then those that only JSON has; NULL past the end. */
const column *column_at(size_t index);

/* Initialisers of a grid that shows an array of sbps_parameter with table_columns. */
#define PARAMETER_GRID(parameters, dim)                                                        \
    .heading = "name", .columns = table_columns, .rows = (parameters), .count = (dim),         \
    .stride = sizeof(sbps_parameter), .name = offsetof(sbps_parameter, name),                  \
    .sd = offsetof(sbps_parameter, sd)

/* The summaries of all parameters, r->dim of them. *out is malloced (free); names are borrowed
 * from r. */
sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err);
/* The summaries of `count` parameters from the first on. */
sbps_status summarize_range(const result *r, size_t first, size_t count, sbps_parameter **out,
                            sbps_error *err);
/* What kind of parameter j is: "coefficient", "intercept", "effect", "sd", "cor" or "". */
const char *parameter_part(const result *r, size_t j);
/* The number of parameters before the effects of groups, which come last. */
size_t count_parameters(const result *r);

/* Row evaluations per effective sample; NAN where the run does not record them. */
double rows_per_sample(const result_info *info);

/* ---- reports of a stored run: the summary of its parameters, and its diagnosis ---- */

/* The summary of one parameter; its name is borrowed from r. SBPS_BAD_ARG where index >=
 * r->dim. */
sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err);

/* The summary of all parameters but effects of groups, in a format. *out is malloced (free). */
sbps_status report_summary(const result *r, sbps_format format, char **out, sbps_error *err);
/* The effects of groups. Fails where the run keeps none. *out is malloced (free). */
sbps_status report_effects(const result *r, sbps_format format, char **out, sbps_error *err);

/* The same; as text it has what `show` adds, of SBPS_SHOW_EFFECTS and SBPS_SHOW_RUN. */
sbps_status report_summary_with(const result *r, sbps_format format, unsigned show, char **out,
                                sbps_error *err);

/* summary_text.c: the summary as text. */
void write_summary_text(text *t, const result *r, const sbps_parameter *parameters,
                        unsigned show);

/* run_checks.c: the findings of a run as text or JSON. *out is malloced (free); *findings
 * gets their number (NULL: not needed). */
sbps_status report_diagnose(const result *r, sbps_format format, char **out, size_t *findings,
                            sbps_error *err);

/* warning.c: what the user should act on after a run, joined into one sentence; empty: nothing.
 * more: warnings of the run, or NULL. *out is malloced (free). */
sbps_status report_warning(const result *r, const char *more, char **out, sbps_error *err);

#endif
