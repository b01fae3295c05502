/* What a run is to be: decided from options, table and mode before its first chain, const from then on.
 * What goes on being tuned is run's own, see run_tuning. */
#ifndef INFERENCE_RUN_PLAN_H
#define INFERENCE_RUN_PLAN_H

#include "inference/options/options.h"
#include "linalg/metric/metric.h"
#include "posterior/minibatch/minibatch.h"
#include "posterior/mode/mode.h"
#include "sampler/core/sampler.h"

typedef struct {
    const model_kind *model;
    const sampler_kind *sampler;
    const metric_kind *metric;
    const char *control_variate;                /* none, gradient, hessian */
    bool auto_control, auto_batch, auto_metric; /* were left to us */
    char why[160];   /* what auto counted; empty when there was no choice */
    double promised; /* work per effective sample, by that count */
    sampler_settings settings;
    bool choose_band;
    double scale; /* sqrt(mean v'Hv): natural units per unit time */
    bool ess_rule, epochs_rule, seconds_rule;
    /* to begin with: */
    const batch_kind *minibatch;
    size_t batch;
    double row_cost; /* what a look at a row costs, beside one that is a row of the table */
    size_t round_events;
} run_plan;

/* Chains advance together by so many events at most; all decisions fall between rounds. */
#define PLAN_ROUND_EVENTS ((size_t)1024)
/* Flights over longer tables than this keep no list of rows. */
#define PLAN_LIST_ROWS ((size_t)100000)

/* What options and table say. */
sbps_status plan_make(const sbps_options *o, const rows *data, run_plan *plan, sbps_error *err);
/* The model alone, and whether the table is one for it. */
sbps_status plan_model(const sbps_options *o, const rows *data, const model_kind **out,
                       sbps_error *err);
/* Whether the sampler can have this posterior. */
sbps_status plan_check_sampler(const run_plan *plan, const posterior *target, sbps_error *err);
/* The metric, from the Hessian at the reference; *a is given to the caller, and one that was there
 * given back. */
sbps_status plan_metric(run_plan *plan, const posterior *target, const mode *reference,
                        metric **a, sbps_error *err);
/* One that was made without a Hessian, and the settings that need it. */
void plan_take_metric(run_plan *plan, const metric *a);
/* Settings that need the metric: scale, refreshment. */
sbps_status plan_finish(run_plan *plan, const sbps_options *o, const mode *reference,
                        const metric *a, sbps_error *err);
/* n, or all rows where it is more than half of them; of ranks, half of the smallest. */
size_t plan_batch_max(const rows *data, size_t n);
/* Which rows batches of n hold. */
const batch_kind *plan_minibatch(const sbps_options *o, const rows *data, const run_plan *plan,
                                 size_t n);
/* May full-data hmc take the place of the sampler? Not where an option was given that only flights have. */
bool plan_may_take_hmc(const sbps_options *o, const run_plan *plan);
/* The plan in which the exact sampler does. */
void plan_take_surrogate(const run_plan *from, run_plan *out);
/* The plan in which it does; *a may become another. */
sbps_status plan_take_hmc(const run_plan *from, const posterior *target, const mode *reference,
                          metric **a, run_plan *out, sbps_error *err);

#endif
