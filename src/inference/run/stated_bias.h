/* The bias estimate of a run ("stated bias") and its standard error. */
#ifndef INFERENCE_STATED_BIAS_H
#define INFERENCE_STATED_BIAS_H

#include "inference/run/run.h"

/* First-order estimate of the largest bias of a mean, posterior sd; NAN: not available. Cheap
 * enough for progress reports. */
double run_bias_quick(const sbps_run *run);
/* Fills the bias of every mean and sd, with standard errors, from the stored draws. */
sbps_status run_state_bias(const sbps_run *run, result *r, sbps_error *err);
/* True if the bias is within its budget only up to two standard errors: more draws may decide.
 */
bool run_bias_unsure(const sbps_run *run);

#endif
