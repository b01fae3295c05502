/* Stopping rules: ESS and R-hat, --epochs, --seconds, and limits for small tables of groups. */
#ifndef INFERENCE_STOP_H
#define INFERENCE_STOP_H

#include "inference/run/run.h"

#define STOP_CHECK_MAX 10.0 /* upper bound of run_state.next_check while sampling */

/* Smallest effective sample size of a parameter along the path; of the squares too, unless each
 * step of the sampler is a draw. */
double run_min_ess(const sbps_run *run);
/* Fraction done by the rule closest to being met, 0..1. */
double stop_progress(const sbps_run *run);
/* True if a rule is met: the run ends. Sets the next check of R-hat. */
bool stop_now(sbps_run *run);
/* True if a run on a small table of groups reached its limit of work; sets run->warning. */
bool out_of_work(sbps_run *run);
/* True if the chain has used its part of the work that limits the present phase. */
bool chain_out_of_work(const sbps_run *run, const chain *c);
/* Largest R-hat of the paths since the estimates were reset. */
double chains_rhat(const sbps_run *run);
/* True if each chain mixes but they stay apart (R-hat large): longer chains would not help.
 * ess: the goal. */
bool chains_apart(const sbps_run *run, double ess);

#endif
