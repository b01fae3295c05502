/* What warm-up changes of what was chosen at set-up. */
#ifndef INFERENCE_REPLAN_H
#define INFERENCE_REPLAN_H

#include "inference/run/run.h"

/* After an epoch; true when something was changed that wants another. */
bool replan_after_epoch(sbps_run *run);
/* After a round, before its estimates are thrown away: flights take over from an exact sampler that auto took where it
 * turns out dearer than they are expected to be. */
sbps_status replan_leave_surrogate(sbps_run *run, bool *left, sbps_error *err);
/* Is it one that auto took? */
bool run_may_leave_surrogate(const sbps_run *run);
/* The chains become those of what auto would have taken else; also before a checkpoint of such is read. */
sbps_status replan_take_alternative(sbps_run *run, sbps_error *err);
/* After a round: hmc takes over where flights turn out far dearer than was promised. */
sbps_status replan_after_round(sbps_run *run, sbps_error *err);
/* The chains become those of hmc, each where it is; also before a checkpoint of such is read. */
sbps_status replan_take_hmc(sbps_run *run, sbps_error *err);
/* What it changed, in words; false, and "", when nothing that is worth telling. */
bool replan_report(const sbps_run *run, size_t size, char *text);
/* Control variate and strata, with the reference at run->anchor. */
sbps_status replan_reanchor(sbps_run *run, sbps_error *err);

#endif
