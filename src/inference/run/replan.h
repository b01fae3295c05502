/* Decisions of set-up that warm-up revises: reference point, batch size, sampler. */
#ifndef INFERENCE_REPLAN_H
#define INFERENCE_REPLAN_H

#include "inference/run/run.h"

/* After an epoch: recentres the control variate and enlarges batches where that pays. True if
 * something changed, so that another epoch is needed. */
bool replan_after_epoch(sbps_run *run);
/* After a round: switches from `surrogate` to the alternative plan if it is much more expensive
 * than estimated. *left: it switched. */
sbps_status replan_leave_surrogate(sbps_run *run, bool *left, sbps_error *err);
/* True if `surrogate` was chosen automatically and is still in force. */
bool run_may_leave_surrogate(const sbps_run *run);
/* Puts plans[1] into force with new chains; also before a checkpoint of it is read. */
sbps_status replan_take_alternative(sbps_run *run, sbps_error *err);
/* After a round: switches to hmc if segments are much more expensive than estimated. */
sbps_status replan_after_round(sbps_run *run, sbps_error *err);
/* Puts hmc into force, each chain at its present point; also before its checkpoint is read. */
sbps_status replan_take_hmc(sbps_run *run, sbps_error *err);
/* Describes the switches as text; false and "": none. */
bool replan_report(const sbps_run *run, size_t size, char *text);
/* Recomputes control variate, strata and bounds for the reference point noise.cv_centre. */
sbps_status replan_recentre(sbps_run *run, sbps_error *err);

#endif
