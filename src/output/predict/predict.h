/* Predictions of new rows: per row, or per row and class, a summary of the draws or all
 * draws. */
#ifndef OUTPUT_PREDICT_H
#define OUTPUT_PREDICT_H

#include "store/result.h"

/* Predicts the rows of `data`: see sbps_predict. */
sbps_status predict_rows(const result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err);

/* Reads the option --encoding: "utf-8", "latin1" or "windows-1252" as encoding_find has it; a
 * NULL name means utf-8. */
sbps_status text_encoding_read(const char *name, const uint16_t **out, sbps_error *err);
/* Reads the option --new-levels: "error" or "prior"; a NULL value means error. */
sbps_status new_levels_read(const char *value, bool *prior, sbps_error *err);

#endif
