/* When `auto` takes the exact sampler `surrogate`: where it is counted cheaper than what it would take else. Warm-up then
 * says whether that was so: inference/run/replan.c. */
#ifndef INFERENCE_SURROGATE_CHOICE_H
#define INFERENCE_SURROGATE_CHOICE_H

#include "inference/autotune/autotune.h"
#include "posterior/minibatch/row_bounds.h"

/* Is it open, as far as options, model and table say? Then set-up gathers the rows' reach. */
bool auto_may_take_surrogate(const sbps_options *o, const run_plan *plan,
                             const posterior *target);
/* Does sorting the rows by their bounds pay, if steps cost nothing? `plan` is what auto has chosen else. */
bool auto_surrogate_may_pay(const auto_facts *f, const run_plan *plan);
/* With their bounds: is it cheaper? Then it becomes the plan, and the other goes aside. */
bool auto_take_surrogate(const auto_facts *f, const row_bounds *bounds, run_plan *plan,
                         run_plan *aside);
/* Numbers of x multiplied: by so many steps that touched so many rows; and by a plan for an effective sample, as
 * it was counted. */
double auto_surrogate_work(const posterior *target, double rows_touched, double steps);
double auto_promised(const posterior *target, const run_plan *plan);

#endif
