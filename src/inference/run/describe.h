/* The set-up report of a run: what was chosen and why. */
#ifndef INFERENCE_DESCRIBE_H
#define INFERENCE_DESCRIBE_H

#include "inference/run/run.h"

/* As sbps_run_describe: *out is a text of several lines, owned by the caller. */
sbps_status run_describe(const sbps_run *run, char **out, sbps_error *err);

#endif
