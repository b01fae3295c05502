/* What every subcommand that looks at a posterior needs first: the options copied, the posterior, its
 * names, its mode. */
#ifndef CHOOSE_TARGET_H
#define CHOOSE_TARGET_H

#include "choose/options.h"
#include "choose/start.h"
#include "mode/mode.h"
#include "posterior/control.h"
#include "read/read.h"

/* What they say of a table. */
rows_spec table_spec(const sbps_options *options);
/* The posterior with its priors; `data` is borrowed. */
sbps_status target_open(const sbps_options *o, const rows *data, const model_kind *model,
                        posterior **out, sbps_error *err);
/* The control variate of that name with its reference at w; NULL for "none". */
sbps_status target_control(const posterior *u, const mode *reference, const char *name,
                           const double *w, control **out, sbps_error *err);
/* `status`, unless the model has failed on the way: then what it says about that. */
sbps_status target_told(const posterior *u, sbps_status status, sbps_error *err);
/* Bytes for the name of any parameter or effect. */
size_t target_name_room(const rows *data);
/* dim names, of coordinates and of what is reported in the place of each. Give back with free_texts. */
sbps_status target_names(const posterior *u, char ***out, sbps_error *err);
sbps_status target_told_names(const posterior *u, char ***out, sbps_error *err);
/* Where the options say that the search begins: a file, the model's own place, or NULL for ours. */
sbps_status target_start(const sbps_options *o, const posterior *u, char *const *names,
                         start_point *out, sbps_error *err);

#endif
