/* The potential U, minus log posterior, at the stored draws. */
#ifndef INFERENCE_DRAW_VALUES_H
#define INFERENCE_DRAW_VALUES_H

#include "inference/run/run.h"

/* Fills potential, log_prior, log_likelihood and potential_sd (standard error; 0: exact). */
sbps_status values_fill(const sbps_run *run, result *r, sbps_error *err);

#endif
