/* A run: everything wired together. Only `run` knows all stages; it decides and measures, the
 * stages do the work. */
#ifndef INFERENCE_RUN_H
#define INFERENCE_RUN_H

#include "core/threads.h"
#include "estimate/bias.h"
#include "estimate/path_moments.h"
#include "inference/autotune/surrogate_choice.h"
#include "model/mixed/mixed.h"
#include "posterior/minibatch/row_bounds.h"
#include "store/draw_store.h"
#include "store/result.h"
#include "store/skeleton.h"
#include "store/trace_file.h"
#include "table/row_sums.h"

#include <stdatomic.h>
#include <stdlib.h>

struct sbps_table {
    rows *data;
    atomic_ullong *visited; /* rows, by runs of it */
    atomic_bool stopped;    /* nobody wants a run of it any more */
};

/* Pointer-free, in the chain's memory. */
typedef struct {
    uint64_t events;  /* of this round that are done */
    event_kind begun; /* what began the segment to be flown next */
    bool failed;      /* its path has ended, see event */
} chain_state;

/* What a chain looked at in this round, when that is asked for: see trace.c. */
typedef struct {
    bool enabled, lost; /* lost: out of memory */
    size_t count, capacity;
    trace_record *records;
    observation_sink watch;
} tracer;

typedef struct {
    arena memory; /* all that changes while the chain runs */
    chain_state *state;
    minibatch batches;
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
    double found, spent;     /* this work per effective sample after so much of it */
    uint64_t surrogate_left; /* the exact sampler gave way to flights, having found */
    double surrogate_found;  /* this work per effective sample */
    double warmup_proposals, warmup_rows; /* all chains, epochs before this one */
    double seconds_warmup, seconds_sampling;
    double next_look; /* ESS over its goal at which R-hat is looked at next */
    uint64_t skeleton_bytes, trace_bytes;
    uint64_t skeleton_gap, trace_gap; /* some of the path was flown without */
} run_state;

/* What goes on being tuned between rounds. A checkpoint has it in the chains' memory. */
typedef struct {
    const batch_kind *minibatch;
    size_t batch;
    size_t round_events;
} run_tuning;

typedef struct {
    strata *parts;
    strata_tally tally;
} spare_parts;

enum { TIMESTAMPS_MAX = 128 };

/* The clock at the end of rounds of sampling: see marks.c. */
typedef struct {
    size_t count, every, skipped; /* marks; rounds from one to the next, and since the last */
    struct {
        double seconds, time; /* of sampling; of flight, mean of the chains */
    } at[TIMESTAMPS_MAX];
} run_timestamps;

#define EFFECTS_MAX ((size_t)5)
#define NAMED_FILES 2 /* see files.c */

/* What other ranks know of a chain already. */
typedef struct {
    size_t draws;
    double spacing;
} sent_draws;

struct sbps_run {
    const sbps_table *table;
    struct ranks *among; /* NULL: one process */
    sent_draws *sent;    /* chain_count, where there are ranks */
    struct ranks *
        alone; /* that is `among` where a run of ranks is carried on without; NULL: others are */
    row_partition *whole; /* of the rows, there */
    char *
        original_options; /* options of a run that is carried on, as they were before it took over the other's; NULL: it is not */
    bool moved;           /* its checkpoint was written by another number of ranks */
    double rank_error,
        rank_bias; /* see ranks.c; NAN: not measured, or every look is at all rows */
    rows data;     /* the table's, with a crew of the run's own */
    struct row_workers workers;
    double passes_setup;   /* through all rows, before the first proposal */
    sbps_options *options; /* own copy */
    const run_plan *plan;  /* in force: one of these, and no longer changed */
    /* As set up; what the exact sampler gives way to where that took its place; and that of hmc, where it took
     * over in warm-up. */
    run_plan plans[3];
    run_tuning tuned;
    posterior *target;
    mode *reference;
    uint64_t start_hash; /* of the file that gave it; 0: none did */
    bool start_metric;   /* and it came with a covariance */
    control *cv;         /* NULL: none */
    row_bounds *bounds;  /* of samplers that weigh pairs of points; NULL: another */
    strata *parts;       /* NULL: rows are all alike */
    strata_tally tally;  /* of the rows' influence; all 0 where it was not measured */
    spare_parts spare;   /* both, of the plan that waits */
    double *cv_centre;   /* dim: its reference point, as the checkpoint keeps it */
    double *factor;      /* Cholesky of the Hessian there */
    quadrature rule;     /* of groups; 0 nodes: the table has none */
    metric *a;
    warps *warped; /* NULL: no coordinate is */
    bool
        prefers_nuts; /* set-up has ended early: the same without integrals over effects is cheaper */
    row_effects moving; /* rows that move the answer by themselves, as far as was looked */
    row_effect moving_rows[EFFECTS_MAX];
    double steepness; /* of U where chains start, over the normal's; INFINITY: not known */
    reported_value *report; /* dim */
    size_t *watched; /* coordinates that estimates are made of while it runs; NULL: all */
    size_t watched_count;
    char **names;          /* dim */
    char **reported_names; /* dim: of what is reported in their place, see derived.h */
    size_t chain_count;
    chain *chains;
    moments *moments_of; /* chain_count, handles side by side for pooling */
    bias *bias_of;
    run_state state;
    run_timestamps timestamps; /* of this process: a checkpoint has no clock but the total */
    thread_pool *pool;
    skeleton_file *skeleton;
    append_file trace;                 /* stream NULL: none is asked for */
    uint64_t file_digest[NAMED_FILES]; /* 0: no such file is named */
    atomic_bool interrupt;
    double
        fraction_done; /* done, as far as it was ever told: an estimate that falls takes nothing back */
    double seconds_setup;
    double clock; /* when this process began to advance */
    double last_checkpoint, checkpoint_cost;
    bool checkpoint_failed; /* the last one */
    sbps_error warning;     /* not told yet; SBPS_OK: none */
};

double now(void); /* seconds, monotonic */

/* run.c and describe.c: as sbps.h has them. */
sbps_status run_create(const sbps_table *table, const sbps_options *options, sbps_run **out,
                       sbps_error *err);
sbps_status run_advance(sbps_run *run, bool *finished, sbps_error *err);
void run_progress(const sbps_run *run, sbps_progress *out);
sbps_status run_describe(const sbps_run *run, char **out, sbps_error *err);
void run_destroy(sbps_run *run);

/* set_up.c: all of it. */
sbps_status run_set_up(sbps_run *run, sbps_error *err);
/* set_up.c: the table's rows with a crew of so many threads as the options say; both are borrowed. */
rows attach_row_workers(const sbps_table *table, const sbps_options *options,
                        struct row_workers *workers);
/* set_up.c: what was known when the plan was made. */
auto_facts run_facts(const sbps_run *run);
/* set_up.c: the plan in force from now on, and what is tuned where it begins. */
void run_follow(sbps_run *run, const run_plan *plan);
/* set_up.c: NULL for "none". */
sbps_status run_control(const sbps_run *run, const char *name, const double *w, control **out,
                        sbps_error *err);
/* set_up.c: for the control variate in force; known: NULL, or what set-up gathered at its reference. */
sbps_status run_bound_pairs(sbps_run *run, const row_reach *known, sbps_error *err);
/* units.c: refuses parameters so large or small that their estimates would overflow or vanish. */
sbps_status run_check_units(const sbps_run *run, sbps_error *err);
/* set_up.c: coordinates that end at a wall, for samplers that bend them. */
sbps_status run_find_warps(sbps_run *run, sbps_error *err);
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
/* A run bounded in time begins with short rounds; they grow while they are a small part of it. */
void chains_lengthen_rounds(sbps_run *run, double seconds);
/* False when an interrupt cut the round short. */
bool chains_round(sbps_run *run);
/* changed.c: whether the table lies in a caller's memory, a sum over rows was NaN in the chain's last step, and the
 * posterior at the reference, once finite, is NaN as well. */
bool chain_lost_numbers(const sbps_run *run, chain *c);
/* SBPS_BAD_DATA with the row and column of a caller's number that has become none and ended a chain; else SBPS_OK. */
sbps_status run_check_numbers(const sbps_run *run, sbps_error *err);
/* SBPS_DIVERGED when a chain's path has ended where there are no numbers. */
sbps_status chains_check(const sbps_run *run, sbps_error *err);
/* The same when a warm-up that does not settle has flown to where the posterior has nothing: asked at the end of
 * its epochs. */
sbps_status chains_check_depth(const sbps_run *run, sbps_error *err);
/* warmup.c */
void warmup_begin(sbps_run *run);
void warmup_after_round(sbps_run *run);
/* stop.c */
/* Of all parameters from the path, and of their squares where the sampler's steps are not draws by themselves. */
double run_min_ess(const sbps_run *run);
double stop_progress(const sbps_run *run); /* 0..1 of the rule nearest to being met */
bool stop_now(sbps_run *run);
/* Has nuts of all effects evaluated more rows than a run may without a limit of the user's? */
bool out_of_work(sbps_run *run);
/* Has the chain done its part of the work that limits the present phase? */
bool chain_out_of_work(const sbps_run *run, const chain *c);
#define STOP_CHECK_MAX                                                                         \
    10.0 /* next_look while sampling goes on: more than stop.c ever asks for */
/* The largest R-hat of the paths since estimates were reset. */
double chains_rhat(const sbps_run *run);
/* Has every chain settled, each in a place of its own? Then more of the same will not help. */
bool chains_apart(const sbps_run *run, double ess);
/* stated_bias.c */
double run_bias_quick(const sbps_run *run);
sbps_status run_state_bias(const sbps_run *run, result *r, sbps_error *err);
/* Do two standard errors take the bias out of its budget, and would less error bring it back? */
bool run_bias_unsure(const sbps_run *run);
/* marks.c: notes the clock; and gives every draw of a result its time by it. */
void timestamps_after_round(sbps_run *run);
void timestamps_fill(const sbps_run *run, result *r);
/* weights.c: k-hat of the importance weights; NAN: there are none yet, or never. Refuses what is not to be
 * trusted. */
double run_pareto_k(const sbps_run *run);
sbps_status run_check_weights(const sbps_run *run, sbps_error *err);
/* run.c: rows of the table that one of the run's stands for, on average: more than 1 where these are groups. */
double run_rows_each(const sbps_run *run);
/* groups.c: standards for the effects of crossed factors by what data say of them where the search for the mode
 * begins; without, it is long, and the mode of their sds far too high. A start that is given is refused there. */
sbps_status groups_ready(const posterior *u, bool has_start, sbps_error *err);
/* The mode, as mode_find_by; of crossed factors also where that finds none, by way of standards set on the way. */
sbps_status groups_find(const posterior *u, const double *start, const mode_request *how,
                        mode **out, sbps_error *err);
/* Of groups, the mode by the rule that there is at first. */
sbps_status groups_near(const posterior *u, const double *start, mode **out, sbps_error *err);
/* Chooses the rule for the integrals of groups around a mode, and finds the mode again by it unless
 * how->method is NULL; nothing for tables without groups. *found is NULL where that failed. */
sbps_status groups_choose_nodes(const posterior *u, const mode_request *how, mode **optimum,
                                quadrature *rule, sbps_error *err);
/* wide.c: mode and metric of a model with so many coordinates that no matrix of them is made. A start that is given is
 * refused. */
sbps_status wide_find(const posterior *u, bool has_start, metric **a, mode **optimum,
                      sbps_error *err);
/* effects.c: those of groups, summarised to a CSV file; or drawn and summarised as parameters of the result. */
sbps_status effects_write(const sbps_run *run, const char *path, sbps_effects *out,
                          sbps_error *err);
sbps_status effects_join(const sbps_run *run, result *r, sbps_error *err);
/* collect.c */
sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err);
/* inspect.c: what a checkpoint may hold. `fresh`: the chains' memory as set-up made it. */
sbps_status inspect_checkpoint(sbps_run *run, const char *path,
                               const unsigned char *const *fresh, sbps_error *err);
/* Its parts: every word of the run's state and of a chain's memory is spoken of. */
void inspect_run(const sbps_run *run, inspection *x);
void inspect_chain(const sbps_run *run, size_t index, inspection *x);
/* record.c: what the run was made of; moments and draws are there already. */
sbps_status run_record(const sbps_run *run, result *r, sbps_error *err);
/* influential_groups.c: those of a table of groups that move the answer by themselves, at the reference; nothing for
 * others. */
sbps_status groups_find_influential(sbps_run *run, sbps_error *err);
/* influential_rows.c: rows that say more than others. */
sbps_status influential_rows_fill(const sbps_run *run, result_info *info, sbps_error *err);
/* trace.c */
sbps_status trace_begin(sbps_run *run, sbps_error *err);
/* At the start of a round: forgets the last one. */
void trace_switch(chain *c, bool on);
sbps_status trace_after_round(sbps_run *run, sbps_error *err);
/* ranks.c: chains live on ranks. Is this something that several can do? */
sbps_status ranks_check_plan(const sbps_run *run, sbps_error *err);
/* Do all ranks fly all chains, each look at rows one at those of all? */
bool ranks_in_step(const sbps_run *run);
/* Chains in all, and which of them this rank flies in this round. */
size_t ranks_chains(const sbps_run *run);
void ranks_own_chains(const sbps_run *run, size_t *first, size_t *count);
/* A round begins: chains that go from rank to rank have arrived. */
void ranks_begin_round(sbps_run *run);
/* Is the run to end early? Ranks in step do it together. */
bool ranks_interrupted(sbps_run *run);
/* After a round: every rank has the memory of all chains. */
void ranks_exchange(sbps_run *run);
/* The draws that all have now; thinned in step, which everybody does by itself. */
void ranks_note_draws(sbps_run *run);
/* How much what single ranks say of the posterior differs, see rank_error. */
sbps_status ranks_measure_error(sbps_run *run, sbps_error *err);
/* R-hat between the chains that began on each; NAN where these are not as many. */
double ranks_rhat(const sbps_run *run);
/* Values of draws by each rank's rows become their mean. */
sbps_status ranks_average_values(const sbps_run *run, result *r, sbps_error *err);
/* carry.c: before set-up. A checkpoint of another number of ranks decides what is flown. */
sbps_status restart_begin(sbps_run *run, sbps_error *err);
void restart_end(sbps_run *run);
/* What a checkpoint says of the ranks that wrote it. Pointer-free. */
typedef struct {
    uint64_t ranks, chains, restarted;
    char sampler[40];
} rank_record;
rank_record restart_record(const sbps_run *run);
/* The chains' memory was read: they are on other ranks now. Before it is inspected, and after. */
void restart_unbind(sbps_run *run);
void restart_restore(sbps_run *run);
/* files.c */
/* `name=value` lines of the options that decide the path. */
char *files_option_lines(const sbps_options *options);
sbps_status files_open(sbps_run *run, sbps_error *err);
sbps_status files_after_round(sbps_run *run, bool last, sbps_error *err);
sbps_status files_resume(sbps_run *run, sbps_error *err);
void files_close(sbps_run *run);

#endif
