/* Reports of predictive accuracy: scores of held-out rows, leave-one-out of a run's own rows,
 * and comparisons of runs by it. */
#ifndef OUTPUT_SCORE_H
#define OUTPUT_SCORE_H

#include "store/result.h"

/* See sbps_score, sbps_loo and sbps_compare. The caller frees *out. */
sbps_status score_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err);
sbps_status loo_report(const result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out,
                       sbps_error *err);
sbps_status compare_report(const result *const *r, const char *const *run, size_t count,
                           const char *data, const sbps_scoring *how, sbps_format format,
                           char **out, sbps_error *err);

#endif
