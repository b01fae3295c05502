/* The plan of a run: model, sampler, metric, batches and settings, decided from options, table
 * and mode before the first chain and constant afterwards. What is tuned later is in
 * run_tuning. */
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
    bool auto_control, auto_batch, auto_metric; /* chosen automatically */
    char why[160];   /* reason of the choice, for the set-up report; "": no choice */
    double promised; /* estimated work per effective sample, numbers of x multiplied */
    sampler_settings settings;
    bool choose_band; /* the width of the band is tuned in warm-up */
    double scale;     /* sqrt(mean v'Hv): natural units per unit of time */
    bool ess_rule, epochs_rule, seconds_rule; /* stopping rules in use */
    /* initial values: */
    const batch_kind *minibatch;
    size_t batch;    /* rows per mini-batch */
    double row_cost; /* of evaluating a row of the run, relative to a row of the table */
    size_t round_events;
} run_plan;

/* --dt of --paper. */
#define PAPER_DT "0.01"
/* Upper bound of the events of a chain per round; decisions are made between rounds. */
#define PLAN_ROUND_EVENTS ((size_t)1024)
/* Tables with more rows than this use windows, which need no list of rows. */
#define PLAN_LIST_ROWS ((size_t)100000)

/* Makes the plan, as far as options and table determine it. */
sbps_status plan_make(const sbps_options *o, const rows *data, run_plan *plan, sbps_error *err);
/* Chooses the model only, and checks that it suits the table. */
sbps_status plan_model(const sbps_options *o, const rows *data, const model_kind **out,
                       sbps_error *err);
/* Checks that the sampler can sample this posterior. */
sbps_status plan_check_sampler(const run_plan *plan, const posterior *target, sbps_error *err);
/* Chooses the metric from the Hessian at the reference; replaces *a, which is the caller's. */
sbps_status plan_metric(run_plan *plan, const posterior *target, const mode *reference,
                        metric **a, sbps_error *err);
/* Uses a metric that was made without a Hessian. */
void plan_take_metric(run_plan *plan, const metric *a);
/* Sets what depends on the metric: time scale and refresh rate. */
sbps_status plan_finish(run_plan *plan, const sbps_options *o, const mode *reference,
                        const metric *a, sbps_error *err);
/* n, or all rows if n is more than half of them; on ranks at most half of the smallest part. */
size_t plan_batch_max(const rows *data, size_t n);
/* Kind of mini-batches of n rows. */
const batch_kind *plan_minibatch(const sbps_options *o, const rows *data, const run_plan *plan,
                                 size_t n);
/* True if full-data hmc may replace the sampler: no option was given that hmc does not have. */
bool plan_may_take_hmc(const sbps_options *o, const run_plan *plan);
/* The plan with sampler `surrogate`. */
void plan_take_surrogate(const run_plan *from, run_plan *out);
/* The plan with sampler hmc; may replace *a. */
sbps_status plan_take_hmc(const run_plan *from, const posterior *target, const mode *reference,
                          metric **a, run_plan *out, sbps_error *err);

#endif
