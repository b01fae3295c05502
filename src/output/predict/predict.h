/* Predictions of new rows, a line each or a line each class: what draws say of them, or all draws. */
#ifndef OUTPUT_PREDICT_H
#define OUTPUT_PREDICT_H

#include "store/result.h"

/* See sbps_predict. */
sbps_status predict_rows(const result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err);

/* "utf-8", "latin1" or "windows-1252" as encoding.h has it; NULL: utf-8. */
sbps_status text_encoding_read(const char *name, const uint16_t **out, sbps_error *err);
/* "error" or "prior"; NULL: error. */
sbps_status new_levels_read(const char *value, bool *prior, sbps_error *err);

#endif
