/* The result of a run: draws, estimates, counts and the record of what it was made from. */
#ifndef INFERENCE_COLLECT_H
#define INFERENCE_COLLECT_H

#include "inference/run/run.h"

/* Creates a result from the run as it is now; also valid before it has finished. *out is the
 * caller's. */
sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err);
/* The same without effects of groups, whatever --ranef keeps: for the page of a running run. */
sbps_status run_collect_parameters(const sbps_run *run, result **out, sbps_error *err);
/* Notes the clock. Called after each round of sampling; paths do not depend on it. */
void timestamps_after_round(sbps_run *run);

#endif
