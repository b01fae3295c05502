/* A run: everything wired together. Only `run` knows all stages; it decides and measures, the
 * stages do the work. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "base/threads.h"
#include "choose/options.h"
#include "estimate/bias.h"
#include "estimate/moments.h"
#include "mode/mode.h"
#include "posterior/influence.h"
#include "potential/minibatch.h"
#include "read/read.h"
#include "sampler/sampler.h"
#include "store/draws.h"
#include "store/result.h"
#include "store/skeleton.h"
#include "store/trace.h"

#include <stdatomic.h>
#include <stdlib.h>

struct sbps_table {
    rows *data;
};

/* Pointer-free, in the chain's memory. */
typedef struct {
    uint64_t events;  /* of this round that are done */
    event_kind begun; /* what began the segment to be flown next */
    bool failed;      /* its path has ended, see event */
} chain_state;

/* What a chain looked at in this round, when that is asked for: see trace.c. */
typedef struct {
    bool wanted, lost; /* lost: out of memory */
    size_t count, room;
    trace_record *records;
    look_sink watch;
} tracer;

typedef struct {
    arena memory; /* all that changes while the chain runs */
    chain_state *state;
    minibatch flight;
    sampler s;
    event_counts *counts; /* in its memory, as what the next three point to */
    moments m;
    bias b;
    draws d;
    path_sinks sinks; /* of this round */
    double *skeleton; /* records of this round; NULL when none is asked for */
    size_t skeleton_count;
    tracer trace;
} chain;

typedef enum { PHASE_WARMUP, PHASE_SAMPLING, PHASE_DONE } run_phase;

/* Pointer-free: part of the checkpoint. */
typedef struct {
    run_phase phase;
    uint64_t rounds, epoch, epoch_rounds; /* in all; warm-up epochs and rounds into this one */
    uint64_t settled;                     /* an epoch of warm-up was long enough */
    uint64_t anchored;                    /* the mean was tried as a reference point */
    uint64_t frozen;                      /* the chains' metrics have stopped learning */
    uint64_t hmc_took_over;               /* from flights, in warm-up, which had found */
    double found, spent; /* this work per effective sample after so much of it */
    double warmup_proposals, warmup_rows; /* all chains, epochs before this one */
    double seconds_warmup, seconds_sampling;
    double next_look; /* ESS over its goal at which R-hat is looked at next */
    uint64_t skeleton_bytes, trace_bytes;
    uint64_t skeleton_gap, trace_gap; /* some of the path was flown without */
} run_state;

/* What was decided at set-up and stays. */
typedef struct {
    const model_kind *model;
    const sampler_kind *sampler;
    const metric_kind *metric;
    const batch_kind *minibatch;
    const char *control_variate; /* none, gradient, hessian */
    size_t batch;
    bool auto_control, auto_batch, auto_metric; /* were left to us */
    char why[160];   /* what auto counted; empty when there was no choice */
    double promised; /* work per effective sample, by that count */
    sampler_settings settings;
    bool choose_band;
    size_t round_events;
    double scale; /* sqrt(mean v'Hv): natural units per unit time */
    bool ess_rule, epochs_rule, seconds_rule;
} run_plan;

#define EFFECTS_MOST ((size_t)5)
#define NAMED_FILES  2 /* see files.c */

struct sbps_run {
    const sbps_table *table;
    sbps_options *options; /* own copy */
    run_plan plan;
    posterior *target;
    mode *reference;
    uint64_t start_hash; /* of the file that gave it; 0: none did */
    bool start_metric;   /* and it came with a covariance */
    control *cv;         /* NULL: none */
    strata *parts;       /* NULL: rows are all alike */
    strata_tally tally;  /* of the rows' influence; all 0 where it was not measured */
    double *anchor;      /* dim: its reference point, as the checkpoint keeps it */
    double *factor;      /* Cholesky of the Hessian there */
    metric *a;
    bends *bent;        /* NULL: no coordinate is */
    row_effects moving; /* rows that move the answer by themselves, as far as was looked */
    row_effect moving_rows[EFFECTS_MOST];
    reported_value *report; /* dim */
    char **names;           /* dim */
    size_t chain_count;
    chain *chains;
    moments *moments_of; /* chain_count, handles side by side for pooling */
    bias *bias_of;
    run_state state;
    thread_pool *pool;
    skeleton_file *skeleton;
    append_file trace;                 /* stream NULL: none is asked for */
    uint64_t file_digest[NAMED_FILES]; /* 0: no such file is named */
    atomic_bool interrupt;
    double
        share; /* done, as far as it was ever told: an estimate that falls takes nothing back */
    double seconds_setup;
    double clock; /* when this process began to advance */
    double last_checkpoint, checkpoint_cost;
    bool checkpoint_failed; /* the last one */
    sbps_error warning;     /* not told yet; SBPS_OK: none */
};

double now(void); /* seconds, monotonic */

/* plan.c */
sbps_status plan_make(const sbps_run *run, const rows *data, run_plan *plan, sbps_error *err);
/* Can the sampler do this? */
sbps_status plan_check_sampler(const sbps_run *run, sbps_error *err);
/* The model alone, and whether the table is one for it. */
sbps_status plan_model(const sbps_options *o, const rows *data, const model_kind **out,
                       sbps_error *err);
/* The metric, from the Hessian at the mode. */
sbps_status plan_metric(sbps_run *run, sbps_error *err);
/* Which rows batches of n hold. Flights over longer tables than this keep no list of rows. */
#define PLAN_LIST_ROWS ((size_t)100000)
const batch_kind *plan_minibatch(const sbps_options *o, const rows *data, const run_plan *plan,
                                 size_t n);
/* Settings that need the mode: metric scale, refreshment. */
sbps_status plan_finish(sbps_run *run, sbps_error *err);
/* A run bounded in time begins with short rounds; they grow while they are a small part of it. */
void plan_round_length(sbps_run *run, double seconds);
/* Full-data hmc takes the place of a sampler that was left open. */
sbps_status plan_take_hmc(sbps_run *run, sbps_error *err);
/* May it? Not where an option was given that only flights have. */
bool plan_may_take_hmc(const sbps_run *run);
/* run.c: NULL for "none". */
sbps_status control_make(const sbps_run *run, const char *name, const double *w, control **out,
                         sbps_error *err);
/* run.c: coordinates that end at a wall, for samplers that bend them. */
sbps_status run_find_bends(sbps_run *run, sbps_error *err);
/* priors.c: fills every prior of the target. */
sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err);
/* chain.c */
sbps_status chains_create(sbps_run *run, sbps_error *err);
void chains_start(sbps_run *run);
/* Each at its point, chain_count * dim numbers from the reference. */
void chains_start_at(sbps_run *run, const double *points);
void chains_destroy(sbps_run *run);
void chains_reset_estimates(sbps_run *run);
/* Another control variate or batch size, between rounds. */
void chains_take_control(sbps_run *run);
void chains_take_batch(sbps_run *run);
/* After their memory was read back. */
void chains_restore(sbps_run *run);
/* False when an interrupt cut the round short. */
bool chains_round(sbps_run *run);
/* SBPS_DIVERGED when a chain's path has ended where there are no numbers. */
sbps_status chains_check(const sbps_run *run, sbps_error *err);
/* warmup.c */
void warmup_begin(sbps_run *run);
void warmup_after_round(sbps_run *run);
/* stop.c */
double stop_share(const sbps_run *run); /* 0..1 of the rule nearest to being met */
bool stop_now(sbps_run *run);
#define STOP_LOOK_MOST                                                                         \
    10.0 /* next_look while sampling goes on: more than stop.c ever asks for */
/* Has every chain settled, each in a place of its own? Then more of the same will not help. */
bool chains_apart(const sbps_run *run, double ess);
/* stated_bias.c */
double run_bias_quick(const sbps_run *run);
sbps_status run_state_bias(const sbps_run *run, result *r, sbps_error *err);
/* Do two standard errors take the bias out of its budget, and would less error bring it back? */
bool run_bias_unsure(const sbps_run *run);
/* collect.c */
sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err);
/* inspect.c: what a checkpoint may hold. `fresh`: the chains' memory as set-up made it. */
sbps_status inspect_read_back(sbps_run *run, const char *path,
                              const unsigned char *const *fresh, sbps_error *err);
/* Its parts: every word of the run's state and of a chain's memory is spoken of. */
void inspect_run(const sbps_run *run, inspection *x);
void inspect_chain(const sbps_run *run, size_t index, inspection *x);
/* record.c: what the run was made of; moments and draws are there already. */
sbps_status run_record(const sbps_run *run, result *r, sbps_error *err);
/* influential_rows.c: rows that say more than others. */
sbps_status influential_rows_fill(const sbps_run *run, result_info *info, sbps_error *err);
/* trace.c */
sbps_status trace_begin(sbps_run *run, sbps_error *err);
/* At the start of a round: forgets the last one. */
void trace_watch(chain *c, bool on);
sbps_status trace_after_round(sbps_run *run, sbps_error *err);
/* files.c */
sbps_status files_open(sbps_run *run, sbps_error *err);
sbps_status files_after_round(sbps_run *run, bool last, sbps_error *err);
sbps_status files_resume(sbps_run *run, sbps_error *err);
void files_close(sbps_run *run);

#endif
