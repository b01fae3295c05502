/* What warm-up changes of what was chosen at set-up. */
#ifndef RUN_REPLAN_H
#define RUN_REPLAN_H

#include "run/run.h"

/* After an epoch; true when something was changed that wants another. */
bool replan_after_epoch(sbps_run *run);
/* After a round: hmc takes over where flights turn out far dearer than was promised. */
sbps_status replan_after_round(sbps_run *run, sbps_error *err);
/* The chains become those of hmc, each where it is; also before a checkpoint of such is read. */
sbps_status replan_take_hmc(sbps_run *run, sbps_error *err);
/* What it changed, in words; false, and "", when nothing that is worth telling. */
bool replan_told(const sbps_run *run, size_t size, char *text);
/* Control variate and strata, with the reference at run->anchor. */
sbps_status replan_reanchor(sbps_run *run, sbps_error *err);

#endif
