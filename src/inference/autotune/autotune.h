/* What `auto` means at set-up, by counted work. Warm-up then says how far that was wrong: inference/run/replan.c. */
#ifndef INFERENCE_AUTOTUNE_H
#define INFERENCE_AUTOTUNE_H

#include "inference/autotune/run_plan.h"
#include "posterior/full/influence.h"
#include "posterior/full/row_cache.h"
#include "posterior/minibatch/probe.h"

/* Missing bounces per natural unit of time, over the bias budget, that keep the worst mean well within it: its
 * error was two to nine times that rate wherever it was measured, most where noise is small. */
#define MISSING_FRACTION 0.03
/* Of the band where there is no noise, natural units. */
#define AUTO_SLOPE 0.5
/* Posterior sd: rows that move the answer so far are told. */
#define EFFECT_MIN 1.0

/* What is known by then; all of it borrowed. */
typedef struct {
    const sbps_options *options;
    const posterior *target;
    const mode *reference;
    const double *factor; /* Cholesky of the Hessian there */
    const metric *a;
} auto_facts;

typedef struct {
    bool hmc;           /* is cheaper than what was chosen, and may take its place */
    strata *parts;      /* given to the caller; NULL: rows are all alike */
    strata_tally tally; /* of the rows' influence; all 0 where it was not measured */
} auto_choice;

/* Every row's influence under each candidate, or counts of them; those not open are left NULL. */
typedef struct {
    influence_target to;
    bool known; /* it was gathered on the way to the mode */
} auto_influences;

sbps_status auto_influences_open(const sbps_options *o, const run_plan *plan,
                                 const posterior *target, auto_influences *out,
                                 sbps_error *err);
void auto_influences_close(auto_influences *m);
/* What is not known of them; and of a model that influence_applies to, at another place. */
sbps_status auto_measure(const auto_facts *f, auto_influences *m, sbps_error *err);
sbps_status auto_measure_at(const posterior *u, const influence_point *at, auto_influences *m,
                            sbps_error *err);
/* Was this order asked for, and what rows have it of. */
bool auto_measured(const auto_influences *m, size_t order);
sbps_status auto_tally(const auto_influences *m, const rows *data, size_t order,
                       strata_tally *out, sbps_error *err);

/* Is the table to be lean in this run, see rows.h? */
bool auto_recompute_rows(const sbps_options *o, const rows *data, const run_plan *plan);
/* Is anything left open that flights have? */
bool auto_applies(const sbps_options *o, const run_plan *plan);
/* Fills in what the plan left open; measures what is not known yet. */
sbps_status auto_tune(const auto_facts *f, run_plan *plan, auto_influences *m, auto_choice *out,
                      sbps_error *err);

/* Of batches of n rows; parts: the strata there are, or NULL. */
const batch_kind *auto_minibatch(const auto_facts *f, const run_plan *plan, const strata *parts,
                                 size_t n);
/* The kind of minibatch that chains must have memory for, when they begin with `first`. */
const batch_kind *auto_widest(const auto_facts *f, const run_plan *plan, const strata *parts,
                              const batch_kind *first);
/* Numbers of x multiplied: by looks of `each` rows that touched so many, and by full-data hmc for an
 * effective sample. */
double auto_segment_work(const posterior *target, const char *control_variate, size_t each,
                         const strata *parts, double rows_touched);
double auto_hmc_work(const posterior *target);
/* In rows, as users are told. */
double auto_in_rows(const posterior *target, double work);
/* Which of the orders of influence.h this control variate is. */
size_t auto_order(const char *control_variate);
const char *auto_candidate(size_t order);
/* Directions of the metric for a probe, by these random numbers. */
void auto_set_directions(const auto_facts *f, probe *p, rng random);

#endif
