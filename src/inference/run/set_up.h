/* Set-up of a run: target, reference point, plan, control variate, chains. */
#ifndef INFERENCE_SET_UP_H
#define INFERENCE_SET_UP_H

#include "inference/run/run.h"

/* Does all of it. On failure the run is left for run_destroy. */
sbps_status run_set_up(sbps_run *run, sbps_error *err);

/* The table's rows, with as many worker threads as the options request. Borrows both; `workers`
 * must outlive the result. */
rows attach_row_workers(const sbps_table *table, const sbps_options *options,
                        struct row_workers *workers);

/* What automatic tuning may use: borrowed pointers into the run. */
auto_facts run_facts(const sbps_run *run);

/* Puts one of run->plans into force and sets the tuned values to its initial ones. */
void run_use_plan(sbps_run *run, const run_plan *plan);

/* Creates the control variate of that name at w; *out is NULL for "none", else the caller's. */
sbps_status run_control(const sbps_run *run, const char *name, const double *w, control **out,
                        sbps_error *err);

/* Computes the row bounds for the control variate in force, if the sampler needs them. known:
 * row norms collected by set-up at the reference point, or NULL. */
sbps_status run_bound_pairs(sbps_run *run, const row_reach *known, sbps_error *err);

/* Finds coordinates bounded on one side, for samplers that transform them. */
sbps_status run_find_warps(sbps_run *run, sbps_error *err);

#endif
