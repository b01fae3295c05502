/* Draws of the effects of groups, given the draws of the other parameters. */
#ifndef INFERENCE_RUN_GROUP_EFFECTS_H
#define INFERENCE_RUN_GROUP_EFFECTS_H

#include "inference/run/run.h"

/* Writes a summary of each effect to a CSV file. *out: counts and approximation errors. */
sbps_status effects_write(const sbps_run *run, const char *path, sbps_effects *out,
                          sbps_error *err);
/* Appends the effects to the parameters of the result. */
sbps_status effects_join(const sbps_run *run, result *r, sbps_error *err);

#endif
