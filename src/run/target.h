/* What every subcommand that looks at a posterior needs first: the options copied, the posterior, its
 * names, its mode. */
#ifndef RUN_TARGET_H
#define RUN_TARGET_H

#include "mode/mode.h"
#include "run/options.h"
#include "run/start.h"

sbps_status options_copy(const sbps_options *from, sbps_options **out, sbps_error *err);
/* The posterior with its priors; `data` is borrowed. */
sbps_status target_open(const sbps_options *o, const rows *data, const model_kind *model,
                        posterior **out, sbps_error *err);
/* dim names. Give back with names_free. */
sbps_status target_names(const posterior *u, char ***out, sbps_error *err);
void names_free(char **names, size_t count);
/* Where the options say that the search begins: a file, the model's own place, or NULL for ours. */
sbps_status target_start(const sbps_options *o, const posterior *u, char *const *names,
                         start_point *out, sbps_error *err);

#endif
