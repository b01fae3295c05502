/* A run from creation to its last round, and its progress.
 *
 * run_create does the whole set-up (set_up.c). If it finds that the effects of groups are
 * better sampled than integrated over, a second set-up with that decision follows.
 *
 * run_advance runs a round: every chain advances by the same number of events. Between rounds
 * all chains stand still; only then are estimates pooled, warm-up and stopping decided,
 * settings changed and files written. Only --seconds lets decisions depend on the clock:
 * without it, draws do not depend on the speed of the machine. */
#include "inference/run/run.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "inference/options/crossed_method.h"
#include "inference/options/family_choice.h"
#include "inference/options/target.h"
#include "inference/run/chain.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/collect.h"
#include "inference/run/replan.h"
#include "inference/run/run_files.h"
#include "inference/run/set_up.h"
#include "inference/run/stated_bias.h"
#include "inference/run/stop.h"
#include "inference/run/warmup.h"
#include "linalg/cholesky.h"
#include "posterior/mode/profile.h"
#include "posterior/sweep/sweep.h"

#include <math.h>
#include <string.h>
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- creation and destruction ---- */

/* With --paper slope prior and steps of the band are the paper's, unless others are given. They
 * are set as options, so that a checkpoint of --paper cannot be resumed with --dt auto. */
static sbps_status complete_paper(sbps_options *o, sbps_error *err)
{
    static const char *const values[][2] = {{"slope-prior", "learned"}, {"dt", PAPER_DT}};
    sbps_status status = SBPS_OK;
    if (!o->paper) return SBPS_OK;
    for (size_t i = 0; status == SBPS_OK && i < sizeof values / sizeof *values; i++)
        if (!option_given(o, values[i][0]))
            status = options_set(o, values[i][0], values[i][1], err);
    return status;
}

/* Creates a run and sets it up. no_integrals: reason for sampling all group effects, or NULL.
 * *out is set even if set-up fails. */
static sbps_status create(const sbps_table *table, const sbps_options *options,
                          const char *no_integrals, sbps_run **out, sbps_error *err)
{
    sbps_run *run = *out = calloc(1, sizeof *run);
    if (!run) return fail_memory(err);
    run->table = table;
    run->ranks.among = table->data->partition ? table->data->partition->among : NULL;
    run->ranks.error = run->ranks.bias = NAN;
    atomic_init(&run->interrupt, false);
    sbps_status status = options_copy(options, &run->options, err);
    if (status == SBPS_OK) status = complete_paper(run->options, err);
    if (status == SBPS_OK)
        status = family_choose(run->options, table->data, &run->family_reason, err);
    if (status != SBPS_OK) return status;
    if (run->options->prior_only && table->data->member_rows)
        no_integrals = "the effects of groups are drawn with their sds and correlations";
    run->options->no_integrals = no_integrals;
    status = run_set_up(run, err); /* creates run->target */
    return target_failure(run->target, status, err);
}

/* True if no prior is flat. With a flat prior a missing mode may mean that the posterior is
 * improper, which no other sampler can help: the failure is then reported. */
static bool is_proper(const posterior *u)
{
    for (size_t j = 0; j < u->dim; j++)
        if (!strcmp(u->priors[j].kind->name, "flat")) return false;
    return true;
}

/* The reason for a second set-up that samples all group effects instead of integrating, or
 * NULL. */
static const char *why_no_integrals(const sbps_run *run, sbps_status status)
{
    const posterior *u = run->target;
    if (status == SBPS_OK)
        return run->prefers_nuts ? "nuts on all group effects: cheaper than integrating them "
                                   "for a small table"
                                 : NULL;
    bool lost = status == SBPS_NO_MODE && u && !u->model->transformation.apply && is_proper(u);
    return lost && crossed_may_give_up_integrals(run->options, &run->data)
               ? "nuts on all group effects: no mode was found when integrating over them"
               : NULL;
}

/* Copies the influential groups of another set-up, for parameters of the same name. They are
 * found by the integrals, which the second set-up does not have. */
static void take_influences(sbps_run *run, const sbps_run *from)
{
    for (size_t i = 0; i < from->influential.count; i++) {
        row_effect e = from->influential_rows[i];
        for (size_t j = 0; j < run->target->dim; j++)
            if (!strcmp(run->report.names[j], from->report.names[e.parameter]))
                run->influential_rows[run->influential.count++] =
                    (row_effect){e.row, j, e.shift};
    }
}

sbps_status run_create(const sbps_table *table, const sbps_options *options, sbps_run **out,
                       sbps_error *err)
{
    double begin = now();
    sbps_run *first, *run;
    sbps_status status = create(table, options, NULL, &first, err);
    const char *why = first ? why_no_integrals(first, status) : NULL;
    run = first;
    if (why) {
        status = create(table, options, why, &run, err);
        if (status == SBPS_OK) take_influences(run, first);
        run_destroy(first);
    }
    *out = status == SBPS_OK ? run : NULL;
    if (status == SBPS_OK) run->seconds_setup = now() - begin;
    if (status != SBPS_OK) run_destroy(run);
    return status;
}

void run_destroy(sbps_run *run)
{
    if (!run) return;
    files_close(run);
    restart_end(run);
    thread_pool_destroy(run->pool);
    chains_destroy(run);
    control_destroy(run->noise.cv);
    row_bounds_destroy(run->noise.bounds);
    strata_destroy(run->noise.parts);
    sweep_close(run->noise.sweep);
    strata_destroy(run->noise.spare.parts);
    free(run->noise.cv_centre);
    free(run->report.watched);
    metric_destroy(run->geometry.a);
    free(run->geometry.warped);
    mode_destroy(run->reference);
    free(run->geometry.factor);
    if (run->report.coordinates) free_texts(run->report.coordinates, run->target->dim);
    if (run->report.names) free_texts(run->report.names, run->target->dim);
    free(run->report.value);
    posterior_destroy(run->target);
    options_destroy(run->options);
    free(run);
}

/* ---- advance ---- */

/* Advances by a round: checks, warm-up or stopping rules, files. */
static sbps_status advance(sbps_run *run, bool *finished, sbps_error *err)
{
    run_state *s = &run->state;
    double begin = now();
    bool warming_up = s->phase == PHASE_WARMUP;
    *finished = s->phase == PHASE_DONE;
    if (*finished) return SBPS_OK;
    bool whole = chains_round(run); /* false: cut short by an interrupt */
    sbps_status status = run_check_numbers(run, err);
    if (status == SBPS_OK) status = chains_check(run, err);
    if (status == SBPS_OK) status = run_check_weights(run, err);
    if (status != SBPS_OK) return status;
    /* the slowest rank's time: all ranks must decide the same */
    double seconds = ranks_max(run->ranks.among, now() - begin);
    *(warming_up ? &s->seconds_warmup : &s->seconds_sampling) += seconds;
    if (run->plan->seconds_rule) chains_lengthen_rounds(run, seconds);
    if (whole) {
        s->rounds++;
        bool left = false; /* new chains: this round does not count for warm-up */
        if (warming_up) status = replan_leave_surrogate(run, &left, err);
        if (status != SBPS_OK) return status;
        if (warming_up && !left) warmup_after_round(run);
        if ((status = chains_check_depth(run, err)) != SBPS_OK) return status;
        if (!warming_up && stop_now(run)) s->phase = PHASE_DONE;
        if (warming_up && (status = replan_after_round(run, err)) != SBPS_OK) return status;
    }
    if (!warming_up) timestamps_after_round(run);
    if (s->phase != PHASE_WARMUP)
        run->fraction_done = fmax(run->fraction_done, stop_progress(run));
    /* an interrupted run ends, too, but not in PHASE_DONE: it can be resumed */
    *finished = !whole || s->phase == PHASE_DONE;
    return files_after_round(run, *finished, err);
}

sbps_status run_advance(sbps_run *run, bool *finished, sbps_error *err)
{
    sbps_status status = advance(run, finished, err);
    return target_failure(run->target, status, err);
}

double run_rows_each(const sbps_run *run)
{
    const rows *member_rows = run->data.member_rows;
    return member_rows ? (double)member_rows->local_rows / (double)run->data.local_rows : 1.0;
}

/* Rows evaluated per effective sample while sampling; NAN: not known. */
static double rows_per_ess(const sbps_run *run, double ess)
{
    double touched = 0.0;
    bool known =
        run->state.phase != PHASE_WARMUP && ess > 0.0 && !run->plan->model->facts.no_rows;
    for (size_t i = 0; i < run->chain_count; i++)
        touched += run_rows_each(run) * (double)run->chains[i].counts->rows;
    return known ? touched / ess : NAN;
}

void run_progress(const sbps_run *run, sbps_progress *out)
{
    const run_state *s = &run->state;
    double done = fmax(run->fraction_done, stop_progress(run)), proposals = s->warmup_proposals;
    *out = (sbps_progress){.warming_up = s->phase == PHASE_WARMUP, .rounds = s->rounds};
    out->share_done = s->phase == PHASE_WARMUP ? 0.0 : done;
    out->seconds = s->seconds_warmup + s->seconds_sampling;
    out->seconds_left = done > 0.0 && s->phase == PHASE_SAMPLING
                            ? s->seconds_sampling * fmax(1.0 / done - 1.0, 0.0)
                            : NAN;
    out->max_rhat = NAN;
    for (size_t i = 0; i < run->chain_count; i++)
        proposals += (double)run->chains[i].counts->proposals;
    for (size_t j = 0; j < run->report.watched_count; j++)
        out->max_rhat =
            fmax(out->max_rhat, moments_summarize(run->moments_of, run->chain_count, j).rhat);
    out->proposals = proposals;
    out->proposals_per_second = out->seconds > 0.0 ? proposals / out->seconds : 0.0;
    out->min_ess = run_min_ess(run);
    out->bias_estimate = run_bias_quick(run);
    out->rows_per_ess = rows_per_ess(run, out->min_ess);
}
