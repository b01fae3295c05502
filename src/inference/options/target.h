/* From options to a table and a posterior: the description of the table to read, generated
 * rows, the posterior with its priors, parameter names, starting point, control variate. */
#ifndef INFERENCE_TARGET_H
#define INFERENCE_TARGET_H

#include "inference/options/options.h"
#include "inference/options/start_point.h"
#include "ingest/ingest.h"
#include "posterior/full/control.h"
#include "posterior/mode/mode.h"

/* How to read the table. Borrows the texts of the options. */
rows_spec table_spec(const sbps_options *options);

#define GENERATED_DIM ((size_t)20) /* columns of generated rows without --dim */

/* The rows of --generate; *out is the caller's. path: name of a table given as well, which is
 * an error, or NULL. */
sbps_status table_generate(const sbps_options *o, const char *path, rows **out,
                           sbps_error *err);

/* Creates the posterior with its priors. Borrows `data`; *out is the caller's. */
sbps_status target_open(const sbps_options *o, const rows *data, const model_kind *model,
                        posterior **out, sbps_error *err);
/* Creates the control variate of that name with reference point w; *out is NULL for "none". */
sbps_status target_control(const posterior *u, const mode *reference, const char *name,
                           const double *w, control **out, sbps_error *err);
/* Returns `status`, or SBPS_BAD_DATA with the model's own message if its code failed. */
sbps_status target_failure(const posterior *u, sbps_status status, sbps_error *err);
/* Size of a buffer for the name of any parameter or effect, bytes. */
size_t target_name_size(const rows *data);
/* The names of the coordinates' parameters ("sigma" for the coordinate log sigma), dim texts;
 * free them with free_texts. */
sbps_status target_names(const posterior *u, char ***out, sbps_error *err);
/* The names of what is reported for each coordinate, dim texts; free them with free_texts. */
sbps_status target_reported_names(const posterior *u, char ***out, sbps_error *err);
/* Reads the point of --start; without one out->w is NULL. */
sbps_status target_start(const sbps_options *o, const posterior *u, char *const *names,
                         start_point *out, sbps_error *err);

#endif
