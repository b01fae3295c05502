/* How well a run predicts rows whose target is known: rows that it has not seen, or its own without themselves. */
#ifndef OUTPUT_SCORE_H
#define OUTPUT_SCORE_H

#include "core/decimal.h"
#include "core/json.h"
#include "output/predict/pointwise.h"

/* See sbps_score, sbps_loo and sbps_compare. `*out` is malloced. */
sbps_status score_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err);
sbps_status loo_report(const result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out,
                       sbps_error *err);
sbps_status compare_report(const result *const *r, const char *const *run, size_t count,
                           const char *data, const sbps_scoring *how, sbps_format format,
                           char **out, sbps_error *err);

/* A line "name   value +- error". */
void write_estimate(text *t, const char *name, double value, double error);
/* , "key": value */
void json_pair(text *t, const char *key, double value);

#endif
