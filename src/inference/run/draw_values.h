/* The potential U at the stored draws, and the standard error of what is stated of it. */
#ifndef INFERENCE_DRAW_VALUES_H
#define INFERENCE_DRAW_VALUES_H

#include "inference/run/run.h"

/* Fills potential, log_prior, log_likelihood and potential_sd; 0 where a pass over all rows gave the value. */
sbps_status values_fill(const sbps_run *run, result *r, sbps_error *err);

#endif
