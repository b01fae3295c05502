/* Values of options that are "auto", chosen by estimated work at set-up. Warm-up corrects them:
 * inference/run/replan.c. */
#ifndef INFERENCE_AUTOTUNE_H
#define INFERENCE_AUTOTUNE_H

#include "inference/autotune/run_plan.h"
#include "posterior/full/influence.h"
#include "posterior/full/row_cache.h"
#include "posterior/minibatch/probe.h"
#include "posterior/minibatch/row_bounds.h"

/* Missing bounces per natural unit of time, relative to the bias budget, that keep the largest
 * bias of a mean well within it: measured biases were two to nine times that rate. */
#define MISSING_FRACTION 0.03
/* Width of the band without noise, natural units. */
#define AUTO_SLOPE 0.5
/* Rows that shift a posterior mean by at least this are reported, posterior sd. */
#define EFFECT_MIN 1.0

/* What is known when the plan is tuned; all borrowed. */
typedef struct {
    const sbps_options *options;
    const posterior *target;
    const mode *reference;
    const double *factor; /* Cholesky factor of the Hessian there */
    const metric *a;
} auto_facts;

/* Sets *out if a boundary runs between coordinates (`warps` of metric.h): full-data hmc then
 * needs steps as short as the boundary is thin, and is not an alternative. Evaluates U some
 * dozens of times. */
sbps_status auto_has_oblique_boundary(const posterior *target, const mode *reference,
                                      const metric *a, bool *out, sbps_error *err);

/* What auto_tune chooses besides completing the plan. */
typedef struct {
    bool hmc;           /* hmc is cheaper than the plan and may replace it */
    strata *parts;      /* the caller's; NULL: no strata */
    strata_tally tally; /* of the influence of the rows; all 0: not measured */
} auto_choice;

/* Influence of every row under each control variate, or histograms of it; NULL: not a
 * candidate. */
typedef struct {
    influence_target to;
    bool known; /* computed during the search for the mode */
    /* The control variate of each candidate at the reference, if making it is expensive; else
     * NULL. Owned. */
    control *made[INFLUENCE_ORDERS];
} auto_influences;

/* Allocates for the candidates of the plan; closes with auto_influences_close. */
sbps_status auto_influences_open(const sbps_options *o, const run_plan *plan,
                                 const posterior *target, auto_influences *out,
                                 sbps_error *err);
/* Frees the arrays; also after a failure of open. */
void auto_influences_close(auto_influences *m);
/* Computes the influences around `at`, a reference point with the Cholesky factor of the
 * Hessian, by one pass through the rows; generated tables use a sample. */
sbps_status auto_measure_at(const posterior *u, const influence_point *at, auto_influences *m,
                            sbps_error *err);
/* Groups rows by the size of their influence under the control variate of this order.
 * SBPS_BAD_FILE: this influence was not measured, as after a damaged checkpoint. */
sbps_status auto_tally(const auto_influences *m, const rows *data, size_t order,
                       strata_tally *out, sbps_error *err);

/* True if the run recomputes numbers of the rows instead of storing them, see table/rows.h. */
bool auto_recompute_rows(const sbps_options *o, const rows *data, const run_plan *plan);
/* True if the sampler has segments whose settings may be tuned. */
bool auto_applies(const sbps_options *o, const run_plan *plan);
/* Completes the plan: control variate, batch size, mini-batches, and whether to use hmc. */
sbps_status auto_tune(const auto_facts *f, run_plan *plan, auto_influences *m, auto_choice *out,
                      sbps_error *err);

/* Kind of mini-batches of n rows; parts: existing strata, or NULL. */
const batch_kind *auto_minibatch(const auto_facts *f, const run_plan *plan, const strata *parts,
                                 size_t n);
/* Kind of mini-batches for which chains that begin with `first` must reserve memory. */
const batch_kind *auto_widest(const auto_facts *f, const run_plan *plan, const strata *parts,
                              const batch_kind *first);
/* Estimated work, in numbers of x multiplied, of observations of `each` rows that evaluated
 * rows_touched in total. */
double auto_segment_work(const posterior *target, const char *control_variate, size_t each,
                         const strata *parts, double rows_touched);
/* Estimated work of full-data hmc per effective sample, in numbers of x multiplied. */
double auto_hmc_work(const posterior *target);
/* Work divided by that of one row without a control variate. */
double auto_in_rows(const posterior *target, double work);
/* Order of a control variate, an index of influence.h, and its name. */
size_t auto_order(const char *control_variate);
/* Fills the probe with random directions of the metric. */
void auto_set_directions(const auto_facts *f, probe *p, rng random);

/* True if `surrogate` may be chosen, by options, model and table; set-up then computes the
 * norms of the rows. */
bool auto_may_take_surrogate(const sbps_options *o, const run_plan *plan,
                             const posterior *target);
/* True if sorting the rows by their bounds alone costs less than a run of `plan`. */
bool auto_surrogate_may_pay(const auto_facts *f, const run_plan *plan);
/* Chooses `surrogate` if it is cheaper by the bounds of the rows: it replaces *plan, which is
 * saved in *aside. */
bool auto_take_surrogate(const auto_facts *f, const row_bounds *bounds, run_plan *plan,
                         run_plan *aside);
/* Work of `steps` surrogate steps that evaluated rows_touched, in numbers of x multiplied. */
double auto_surrogate_work(const posterior *target, double rows_touched, double steps);
/* Estimated work of a plan per effective sample: what auto_take_surrogate compares with. */
double auto_promised(const posterior *target, const run_plan *plan);

#endif
