/* Reports of a stored run: the summary of its parameters, and its diagnosis. */
#ifndef OUTPUT_REPORT_H
#define OUTPUT_REPORT_H

#include "store/result.h"

/* The summary of one parameter; its name is borrowed from r. SBPS_BAD_ARG where index >=
 * r->dim. */
sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err);

/* The summary of all parameters in a format. *out is malloced (free). */
sbps_status report_summary(const result *r, sbps_format format, char **out, sbps_error *err);

/* The findings of a run as text or JSON. *out is malloced (free); *findings gets their number
 * (NULL: not needed). */
sbps_status report_diagnose(const result *r, sbps_format format, char **out, size_t *findings,
                            sbps_error *err);

#endif
