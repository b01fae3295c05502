/* A run: posterior, chains, files and state of one call of `sbps sample`, and its life cycle.
 * The other files of this folder work on struct sbps_run; each has a header of its own:
 *
 *   set_up, group_mode      everything before the first round; the mode of models with groups
 *   chain, chains_on_ranks  memory, starts and rounds of chains; chains of several processes
 *   warmup, replan, stop    decisions between rounds: settings, end of warm-up and of the run
 *   run_files               checkpoints, skeletons and traces
 *   collect                 the result, with parts by derived_quantities, draw_values,
 *                           group_effects, influential and stated_bias
 *   describe                the set-up report
 *
 * Two files need no run: approximate (mode and Laplace approximation) and make_table. */
#ifndef INFERENCE_RUN_H
#define INFERENCE_RUN_H

#include "core/threads.h"
#include "estimate/bias.h"
#include "estimate/path_moments.h"
#include "inference/autotune/autotune.h"
#include "model/mixed/mixed.h"
#include "posterior/minibatch/row_bounds.h"
#include "store/draw_store.h"
#include "store/path_files.h"
#include "store/result.h"
#include "table/row_sums.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The table of sbps.h. Runs share it and change nothing but these counters. */
struct sbps_table {
    rows *data;
    atomic_ullong *visited; /* rows read by runs on this table */
    atomic_bool stopped;    /* set to stop all runs on this table */
};

/* State of a chain. Pointer-free: lies in the chain's memory and is part of the checkpoint. */
typedef struct {
    uint64_t events;  /* events completed in this round */
    event_kind begun; /* event at which the next segment starts */
    bool failed;      /* the path ended in a non-finite value */
} chain_state;

/* Observations of the slope made by one chain in the current round, see run_files.h. */
typedef struct {
    bool enabled, lost; /* lost: memory ran out */
    size_t count, capacity;
    trace_record *records;
    observation_sink watch;
} tracer;

/* A chain. Its handles (batches, s, m, b, d) point into `memory`. After a checkpoint was read
 * into the memory, chains_restore sets what is not in it. */
typedef struct {
    arena memory; /* everything that changes while the chain runs; saved in checkpoints */
    chain_state *state;
    minibatch batches;
    sampler s;
    event_counts *counts; /* in `memory`, as is the data of the next three */
    moments m;
    bias b;
    draws d;
    path_sinks sinks; /* receive the segments of this round */
    double *skeleton; /* skeleton records of this round; NULL: no --skeleton */
    size_t skeleton_count;
    tracer trace;
} chain;

/* PHASE_DONE: a stopping rule was met. */
typedef enum { PHASE_WARMUP, PHASE_SAMPLING, PHASE_DONE } run_phase;

/* Progress and decisions of the run. Pointer-free: block "run" of the checkpoint. */
typedef struct {
    run_phase phase;
    uint64_t rounds, epoch, epoch_rounds; /* all rounds; warm-up epochs; rounds in this epoch */
    uint64_t goal_reached;                /* flag: an epoch reached the ESS goal of warm-up */
    uint64_t recentred;                   /* flag: the path mean was tried as reference point */
    uint64_t frozen;                      /* flag: the metrics of the chains no longer adapt */
    uint64_t hmc_took_over;               /* flag: the chains switched to hmc in warm-up */
    double replaced_cost;    /* work per effective sample of the replaced sampler */
    double spent;            /* work in total */
    uint64_t surrogate_left; /* flag: the chains switched away from `surrogate` in warm-up, */
    double surrogate_cost;   /* when an effective sample cost this much work */
    double warmup_proposals, warmup_rows; /* all chains, completed warm-up epochs */
    double seconds_warmup, seconds_sampling;
    double next_check; /* ESS, relative to its goal, at which R-hat is computed next */
    uint64_t skeleton_bytes, trace_bytes;
    uint64_t skeleton_gap, trace_gap; /* flags: part of the path was not written */
} run_state;

/* Settings that are tuned between rounds. In a checkpoint they are part of the chains' memory.
 */
typedef struct {
    const batch_kind *minibatch;
    size_t batch; /* rows per mini-batch */
    size_t round_events;
} run_tuning;

/* Strata of a plan that is not in force. */
typedef struct {
    strata *parts;
    strata_tally tally;
} spare_parts;

/* When as many readings are full, every second one is dropped. */
enum { TIMESTAMPS_MAX = 128 };

/* Clock readings at the end of sampling rounds, see collect.h. */
typedef struct {
    size_t count, every, skipped; /* readings; rounds per reading; rounds since the last */
    struct {
        double seconds, time; /* of sampling; path time, mean over chains */
    } at[TIMESTAMPS_MAX];
} run_timestamps;

#define EFFECTS_MAX ((size_t)5) /* influential rows that are reported */
#define NAMED_FILES 2           /* options with a file that affects the path, see run_files.c */

/* Draws of a chain that the other ranks already have. */
typedef struct {
    size_t draws;
    double spacing;
} sent_draws;

/* Distribution over MPI ranks, see chains_on_ranks.h. */
typedef struct {
    struct ranks *among; /* NULL: one process */
    struct ranks *alone; /* owned ranks object of a single process that resumes a run of several
                          * ranks, equal to `among` then; else NULL */
    row_partition *partition; /* of the rows, with `alone`; owned */
    sent_draws *sent;         /* chain_count */
    /* options of a resumed run before it took over those of the checkpoint; NULL: unchanged */
    char *original_options;
    bool moved;         /* the checkpoint was written by another number of ranks */
    double error, bias; /* (2) and (3) of chains_on_ranks.c; NAN: not measured or exact */
} run_ranks;

/* What reduces mini-batch noise: control variate, bounds and strata. */
typedef struct {
    control *cv;         /* NULL: none */
    double *cv_centre;   /* dim: reference point of the control variate; checkpoint "anchor" */
    row_bounds *bounds;  /* of samplers that weigh pairs of points; NULL: others */
    struct sweep *sweep; /* of samplers that draw blocks of parameters; NULL: others */
    strata *parts;       /* NULL: no strata */
    strata_tally tally;  /* influence of the rows; all 0: not measured */
    spare_parts spare;   /* `parts` and `tally` of plans[1] while plans[0] is in force */
} run_noise;

/* The posterior around the reference point. */
typedef struct {
    double *factor;      /* Cholesky factor of the Hessian; NULL: no Hessian */
    metric *a;           /* preconditioner */
    warps *warped;       /* transformed coordinates; NULL: none */
    bool profiled;       /* `oblique` has been measured, see replan.c */
    bool oblique;        /* a boundary runs between coordinates: hmc is slow */
    quadrature rule;     /* of group integrals; 0 nodes: no groups */
    double steepness;    /* U where chains start, relative to the normal; INFINITY: unknown */
    uint64_t start_hash; /* of the file of --start; 0: none */
    bool start_metric;   /* that file had a covariance */
} run_geometry;

/* Names and scales of the reported parameters. */
typedef struct {
    reported_value *value; /* dim: from coordinate to reported value; NULL: identity */
    char **coordinates;    /* dim: names of the coordinates' parameters */
    char **names;          /* dim: names of what is reported, see derived_quantities.h */
    size_t *watched;       /* coordinates with running estimates; NULL: all */
    size_t watched_count;
} run_report;

/* Output files that grow during the run, and checkpoints. */
typedef struct {
    skeleton_file *skeleton;
    append_file trace;                       /* stream NULL: no --trace */
    uint64_t digest[NAMED_FILES];            /* 0: no such file */
    double last_checkpoint, checkpoint_cost; /* seconds: time of the last, duration */
    bool checkpoint_failed;                  /* the last one */
} run_output;

/* The run of sbps.h. After set-up, plan, control variate and strata change in warm-up only
 * (replan.c). */
struct sbps_run {
    const sbps_table *table; /* borrowed */
    sbps_options *options;   /* own copy */
    rows data;               /* the table's rows, with the run's own workers */
    struct row_workers workers;
    const run_plan *plan; /* in force: one of `plans` */
    /* [0] as set up; [1] the alternative to `surrogate`; [2] hmc after a switch in warm-up */
    run_plan plans[3];
    run_tuning tuned;
    posterior *target;
    mode *reference; /* mode, or the point of --start */
    run_geometry geometry;
    run_noise noise;
    run_report report;
    run_ranks ranks;
    row_effects influential; /* rows that shift a posterior mean; in influential_rows */
    row_effect influential_rows[EFFECTS_MAX];
    const char *family_reason; /* why this family was chosen; NULL: it was given */
    bool prefers_nuts; /* set-up stopped: nuts on all group effects is cheaper than integrals */
    size_t chain_count;
    chain *chains;
    moments *moments_of; /* chain_count: copies of the chains' handles, for pooling */
    bias *bias_of;       /* likewise */
    run_state state;
    thread_pool *pool;
    run_output files;
    run_timestamps timestamps; /* of this process only */
    double deadline;           /* when the present round ends at the latest, by now() */
    atomic_bool interrupt;     /* set to stop the run after the current segment */
    double passes_setup;       /* passes through all rows before the first proposal */
    double seconds_setup;
    double fraction_done; /* largest value reported so far, 0..1 */
    sbps_error warning;   /* not yet reported; SBPS_OK: none */
};

/* Monotonic clock, seconds. */
double now(void);

/* ---- the functions of sbps.h with the same names; see there for ownership ---- */

/* Does all of set-up, and reads the checkpoint of --resume: chains are ready to advance. */
sbps_status run_create(const sbps_table *table, const sbps_options *options, sbps_run **out,
                       sbps_error *err);
/* Advances all chains by one round; then decides about warm-up, stopping and files. */
sbps_status run_advance(sbps_run *run, bool *finished, sbps_error *err);
/* Fills *out from counts that are kept in any case: cheap enough to be called after every
 * round. */
void run_progress(const sbps_run *run, sbps_progress *out);
void run_destroy(sbps_run *run); /* NULL is fine */

/* Rows of the table per row of the run, on average: more than 1 if its rows are groups. */
double run_rows_each(const sbps_run *run);

#endif
