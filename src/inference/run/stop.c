/* Stopping rules; the first one met stops the run.
 *
 * The ESS counts only if the stored draws agree: rank-normalised R-hat of every parameter at
 * most RHAT_GOAL, and bulk and tail ESS at least the goal (at most the number of stored draws),
 * or else an ESS of the path so far above its goal that waiting longer would not help. If the
 * width of the band was chosen automatically, the bias with two standard errors must be within
 * its budget, or the run continues to BIAS_WAIT times the goal, which reduces the error. Chains
 * in separate modes never agree: the run ends when each has its part of RHAT_WAIT times the
 * goal by itself, and reports it. */
#include "inference/run/stop.h"
#include "estimate/diagnostics.h"
#include "inference/run/run.h"
#include "inference/run/stated_bias.h"

#include <math.h>
#include <string.h>

#define RHAT_GOAL  1.01
#define RHAT_WAIT  4.0 /* times the ESS goal, at most */
#define RHAT_APART 1.5 /* R-hat of the path above which chains are in separate modes */
#define WORK_ROWS  ((size_t)20000) /* largest small table of groups */
/* Limits of work for ESS 400, in numbers multiplied: with one factor, about 7 seconds, */
#define WORK_ONE     1.5e10
#define WORK_SEVERAL 1e11 /* with several factors, about 45 seconds */
/* cost of a number multiplied in an integral over effects, relative to one of a row */
#define INTEGRAL_COST 3.8
#define CLOSED_COST   0.7 /* where the integral is in closed form */
#define WORK_ESS      400.0
#define WORK_WARMUP   0.5 /* part of the limit for warm-up */
#define RECHECK       1.1 /* least growth of the ESS between checks of R-hat */
#define BIAS_WAIT     2.0 /* times the ESS goal, at most */

/* Rows evaluated by all chains since the estimates were reset. */
static double rows_touched(const sbps_run *run)
{
    double sum = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) sum += (double)run->chains[i].counts->rows;
    return sum;
}

/* The limit of work; INFINITY: none, because of the options or a large table. */
static double work_limit(const sbps_run *run)
{
    const run_plan *plan = run->plan;
    const rows *member_rows = run->data.member_rows;
    bool limited = member_rows && plan->model->row_model && plan->model->rows.cost &&
                   plan->ess_rule && !plan->epochs_rule && !plan->seconds_rule &&
                   !run->options->paper;
    if (!limited || total_rows(member_rows) > WORK_ROWS || option_given(run->options, "warmup"))
        return INFINITY;
    double limit = member_rows->groups->factors > 1 ? WORK_SEVERAL : WORK_ONE;
    return limit * fmax(run->options->ess / WORK_ESS, 1.0);
}

/* The limit of work up to the end of the present phase. */
static double phase_limit(const sbps_run *run)
{
    return (run->state.phase == PHASE_WARMUP ? WORK_WARMUP : 1.0) * work_limit(run);
}

/* True if effects are integrated in closed form: normal rows, factors that are not nested. */
static bool has_closed_integrals(const sbps_run *run)
{
    const model_kind *row_model = run->plan->model->row_model;
    return !strcmp(row_model->name, "linear") && run->data.member_rows->groups->nested == 0;
}

/* Cost of evaluating a row of the table, in numbers multiplied. */
static double visit_cost(const sbps_run *run)
{
    const model_kind *model = run->plan->model;
    double row = fmax(model->row_model->predictor->cost, 1.0);
    double cost = model->transformation.apply ? 1.0
                  : has_closed_integrals(run) ? CLOSED_COST
                                              : INTEGRAL_COST * row;
    return cost * model->rows.cost(run->target->self);
}

bool chain_out_of_work(const sbps_run *run, const chain *c)
{
    double limit = phase_limit(run);
    if (isinf(limit)) return false;
    double earlier = run->state.warmup_rows / (double)run->chain_count;
    double visits = earlier + (double)c->counts->rows;
    return visits * visit_cost(run) > limit / (double)run->chain_count;
}

bool out_of_work(sbps_run *run)
{
    double limit = phase_limit(run);
    if (isinf(limit)) return false;
    double visits = run->state.warmup_rows + rows_touched(run);
    bool over = visits * visit_cost(run) > limit;
    for (size_t i = 0; i < run->chain_count; i++)
        over = over || chain_out_of_work(run, &run->chains[i]);
    if (!over || run->state.phase == PHASE_WARMUP) return over;
    fail(&run->warning, SBPS_MISMATCH,
         "the run stopped at the computing limit for small tables before reaching the ESS and "
         "R-hat goals; use --seconds to allow more");
    return true;
}

/* Fraction done of --epochs and --seconds. */
static double bounded_progress(const sbps_run *run)
{
    const sbps_options *o = run->options;
    double progress = 0.0, pass = (double)total_rows(run->table->data);
    if (run->plan->epochs_rule)
        progress = rows_touched(run) / pass / o->epochs; /* all chains */
    if (run->plan->seconds_rule)
        progress = fmax(progress,
                        (run->state.seconds_warmup + run->state.seconds_sampling) / o->seconds);
    return progress;
}

double run_min_ess(const sbps_run *run)
{
    double smallest = INFINITY;
    if (!run->plan->sampler->means_suffice)
        return moments_min_ess(run->moments_of, run->chain_count);
    for (size_t j = 0; j < run->report.watched_count; j++)
        smallest =
            fmin(smallest, moments_summarize(run->moments_of, run->chain_count, j).ess_mean);
    return isfinite(smallest) ? smallest : 0.0;
}

/* Smallest ESS relative to its goal; 0 without the rule. */
static double ess_progress(const sbps_run *run)
{
    return run->plan->ess_rule ? run_min_ess(run) / run->options->ess : 0.0;
}

/* Fraction of --draws stored; 1 unless the option was given: a sampler with one draw per step
 * may reach the ESS with fewer than the default. */
static double draws_progress(const sbps_run *run)
{
    double progress = 1.0, requested = (double)run->options->draws;
    if (!option_given(run->options, "draws") && !run->options->prior_only) return 1.0;
    for (size_t i = 0; i < run->chain_count; i++)
        progress = fmin(progress, (double)run->chains[i].d.state->count / requested);
    return progress;
}

double stop_progress(const sbps_run *run)
{
    double ess = run->options->prior_only ? 1.0 : ess_progress(run);
    ess = fmin(ess, draws_progress(run));
    if (run->state.phase == PHASE_SAMPLING) ess = fmin(ess, 0.99);
    return fmin(fmax(bounded_progress(run), ess), 1.0);
}

/* R-hat and ESS of the stored draws, over all parameters. */
typedef struct {
    double rhat; /* largest; INFINITY: not defined */
    double ess;  /* smallest, bulk or tail; computed if R-hat meets its goal */
} agreement;

/* Includes parameter j, from the first `fewest` draws of each chain, as it is reported: R-hat of
 * the distances from the median depends on the scale. */
static void add_parameter(const sbps_run *run, size_t j, size_t fewest, double *scratch,
                          agreement *all)
{
    size_t d = run->target->dim, count = run->chain_count;
    bool logarithm = run->target->scale[j] == SCALE_LOG;
    draw_summary s;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < fewest; i++) {
            double w = run->chains[c].d.w[i * d + j];
            scratch[c * fewest + i] = logarithm ? exp(w) : w;
        }
    sbps_status status = summarize_draws(count, fewest, scratch, &s, NULL);
    bool known = status == SBPS_OK && !isnan(s.rhat);
    all->rhat = known ? fmax(all->rhat, s.rhat) : INFINITY;
    if (known) all->ess = fmin(all->ess, fmin(s.ess_bulk, s.ess_tail));
}

/* R-hat and ESS of the stored draws; stops at the first parameter whose R-hat is too large. */
static agreement measure_agreement(const sbps_run *run)
{
    size_t fewest = SIZE_MAX;
    agreement all = {.ess = INFINITY};
    for (size_t c = 0; c < run->chain_count; c++)
        if (run->chains[c].d.state->count < fewest) fewest = run->chains[c].d.state->count;
    double *scratch = new_doubles(run->chain_count * fewest);
    if (!scratch) return (agreement){.rhat = INFINITY};
    for (size_t j = 0; j < run->report.watched_count && all.rhat <= RHAT_GOAL; j++)
        add_parameter(run, run->report.watched ? run->report.watched[j] : j, fewest, scratch,
                      &all);
    free(scratch);
    return all;
}

/* The ESS goal, at most the number of stored draws. */
static double required_ess(const sbps_run *run)
{
    double kept = (double)run->options->draws * (double)run->chain_count;
    return fmin(run->options->ess, kept);
}

double chains_rhat(const sbps_run *run)
{
    double rhat = 0.0;
    for (size_t j = 0; j < run->report.watched_count; j++)
        rhat = fmax(rhat, moments_summarize(run->moments_of, run->chain_count, j).rhat);
    return rhat;
}

bool chains_apart(const sbps_run *run, double ess)
{
    double own = 0.0;
    for (size_t i = 0; i < run->chain_count; i++)
        own += moments_min_ess(&run->moments_of[i], 1);
    return chains_rhat(run) > RHAT_APART && own >= RHAT_WAIT * ess;
}

/* True if the stored draws meet the goals. The check is expensive: the next one is made when
 * the missing part may have been reached. */
static bool draws_suffice(sbps_run *run, double ess)
{
    agreement measured = measure_agreement(run);
    double required = required_ess(run), lacking = required / fmax(measured.ess, 1.0);
    run->state.next_check = fmax(RECHECK, fmin(lacking, 2.0)) * ess;
    return measured.rhat <= RHAT_GOAL && measured.ess >= required;
}

bool stop_now(sbps_run *run)
{
    double ess = ess_progress(run);
    if (run->options->prior_only) return draws_progress(run) >= 1.0; /* they are independent */
    if (bounded_progress(run) >= 1.0 || out_of_work(run)) return true;
    if (run->plan->ess_rule && chains_apart(run, run->options->ess)) return true;
    if (ess < fmax(1.0, run->state.next_check)) return false;
    if (draws_progress(run) < 1.0) return false;
    if (ess >= RHAT_WAIT) return true;
    if (!draws_suffice(run, ess)) return false;
    return ess >= BIAS_WAIT || !run->plan->choose_band || !run_bias_unsure(run);
}
