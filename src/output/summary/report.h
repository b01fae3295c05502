/* Stored results -> tables and words. */
#ifndef OUTPUT_REPORT_H
#define OUTPUT_REPORT_H

#include "estimate/diagnostics.h"
#include "store/result.h"

sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err);
/* `*out` is malloced. */
sbps_status report_summary(const result *r, sbps_format format, char **out, sbps_error *err);
/* As text or as JSON. */
sbps_status report_diagnose(const result *r, sbps_format format, char **out, size_t *findings,
                            sbps_error *err);

#endif
