/* What every subcommand that looks at a posterior needs first: the options copied, the posterior, its
 * names, its mode. */
#ifndef INFERENCE_TARGET_H
#define INFERENCE_TARGET_H

#include "inference/options/options.h"
#include "inference/options/start_point.h"
#include "ingest/ingest.h"
#include "posterior/full/control.h"
#include "posterior/mode/mode.h"

/* What they say of a table. */
rows_spec table_spec(const sbps_options *options);
/* The posterior with its priors; `data` is borrowed. */
sbps_status target_open(const sbps_options *o, const rows *data, const model_kind *model,
                        posterior **out, sbps_error *err);
/* The control variate of that name with its reference at w; NULL for "none". */
sbps_status target_control(const posterior *u, const mode *reference, const char *name,
                           const double *w, control **out, sbps_error *err);
/* `status`, unless the model has failed on the way: then what it says about that. */
sbps_status target_failure(const posterior *u, sbps_status status, sbps_error *err);
/* Bytes for the name of any parameter or effect. */
size_t target_name_size(const rows *data);
/* dim names, of coordinates and of what is reported in the place of each. Give back with free_texts. */
sbps_status target_names(const posterior *u, char ***out, sbps_error *err);
sbps_status target_reported_names(const posterior *u, char ***out, sbps_error *err);
/* Where the options say that the search begins: a file, the model's own place, or NULL for ours. */
sbps_status target_start(const sbps_options *o, const posterior *u, char *const *names,
                         start_point *out, sbps_error *err);

#endif
