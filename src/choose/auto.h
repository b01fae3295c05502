/* What `auto` means: at set-up (auto.c), and once warm-up has shown what it costs (replan.c). */
#ifndef CHOOSE_AUTO_H
#define CHOOSE_AUTO_H

#include "run/run.h"

/* Missing bounces per natural unit of time, over the bias budget, that keep the worst mean well within it: its
 * error was two to nine times that rate wherever it was measured, most where noise is small. */
#define MISSING_SHARE 0.03
/* Of the band where there is no noise, natural units. */
#define AUTO_SLOPE 0.5

/* What was left open, by counted work. */
sbps_status auto_choose(sbps_run *run, sbps_error *err);
/* The kind of minibatch that chains must have memory for. */
const batch_kind *auto_widest(const sbps_run *run);
/* Of batches of n rows, with the strata there are. */
const batch_kind *auto_minibatch(const sbps_run *run, size_t n);
/* Is anything left open that flights have? */
bool auto_wanted(const sbps_run *run);
/* Numbers of x multiplied: by the looks that touched so many rows, and by full-data hmc for an effective
 * sample. */
double auto_flight_work(const sbps_run *run, double rows_touched);
double auto_hmc_work(const sbps_run *run);
/* In rows, as users are told. */
double auto_in_rows(const sbps_run *run, double work);
/* Which of the orders of influence.h the control variate in force is. */
size_t auto_order(const sbps_run *run);

/* ---- in warm-up ---- */

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
