/* Warm-up in epochs that double in length: epoch e has 2^e rounds.
 *
 * At the end of an epoch the width of the band is chosen from its proposals, which show how
 * much any width would have missed; estimates are reset. Warm-up ends after an epoch in which
 * the slowest parameter or square reached WARMUP_ESS. As every epoch is as long as all before
 * it together, the last one takes about half of warm-up, and a bad start is forgotten.
 *
 * Nothing changes a setting after warm-up (unless --adapt-forever is set): chains are then
 * Markov chains with fixed kernels. */
#include "inference/run/warmup.h"
#include "inference/run/chain.h"
#include "inference/run/replan.h"
#include "inference/run/stop.h"
#include "sampler/band/calibration.h"

#include <math.h>
#include <string.h>

#define WARMUP_ESS    100.0 /* ESS of the last epoch, all chains together */
#define WARMUP_EPOCHS 24    /* most epochs */
/* Most trajectories of a chain with shrinkage priors, whose long tails lengthen warm-up. */
#define WARMUP_SCALES  500
#define WARMUP_WINDOWS 2   /* most epochs before the last, for samplers that adapt in windows */
#define WARMUP_RHAT    1.1 /* R-hat at which chains of such samplers agree well enough */
#define SWEEP_ESS      50.0 /* as WARMUP_ESS, of means alone: for samplers that adapt little */
/* As MISSING_FRACTION, with two standard errors: a ninth of the budget. */
#define MISSING_MAX 0.1

/* Turns the recording of proposals for choose_band on or off. */
static void calibrate_all(sbps_run *run, bool on)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        sampler *s = &run->chains[i].s;
        if (s->kind->calibrate) s->kind->calibrate(s, on);
    }
}

/* Turns the adaptation of metrics on or off. */
static void adapt_all(sbps_run *run, bool on)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        sampler *s = &run->chains[i].s;
        if (s->kind->adapt) s->kind->adapt(s, on);
    }
}

/* Gives all chains the mean of their adapted metrics: bias estimate and pooled moments need a
 * common metric. */
static void average_metrics(sbps_run *run)
{
    sampler *first = &run->chains->s;
    if (!first->own.kind) return;
    for (size_t i = 1; i < run->chain_count; i++)
        first->own.kind->blend(&first->own, &run->chains[i].s.own, 1.0 / (double)(i + 1));
    for (size_t i = 0; i < run->chain_count; i++) {
        sampler *s = &run->chains[i].s;
        if (s != first) sampler_start_metric(s, &first->own);
        sampler_update_metric(s);
    }
}

/* Ends the adaptation of metrics before warm-up: the band is then chosen once more for the
 * final metric. True: it ended now. */
static bool freeze_metric(sbps_run *run)
{
    if (!run->chains->s.own.kind || run->options->adapt_forever || run->state.frozen)
        return false;
    adapt_all(run, false);
    average_metrics(run);
    run->state.frozen = true;
    return true;
}

/* Ends warm-up. */
static void end(sbps_run *run)
{
    run->state.phase = PHASE_SAMPLING;
    calibrate_all(run, false);
    if (run->options->adapt_forever) return;
    freeze_metric(run);
    adapt_all(run, false);
}

void warmup_begin(sbps_run *run)
{
    run->state = (run_state){.phase = PHASE_WARMUP};
    calibrate_all(run, true);
    adapt_all(run, true);
    bool needless = run->plan->sampler->independent && run->options->warmup == SIZE_AUTO;
    run->state.goal_reached = needless;
    if (run->options->warmup == 0 || needless) end(run);
}

/* Chooses the width of the band for the bias budget. */
static void choose_band(sbps_run *run)
{
    calibration all = {0};
    if (!run->plan->choose_band || !run->plan->sampler->curve) return;
    for (size_t i = 0; i < run->chain_count; i++)
        calibration_add(&all, run->plan->sampler->curve(&run->chains[i].s));
    double unit = run->options->bias_budget * run->plan->scale;
    if (run->plan->sampler->gaussian) unit *= sqrt((double)run->target->dim); /* mean speed */
    double k =
        band_choose_width(&all, (band_goal){MISSING_FRACTION * unit, MISSING_MAX * unit});
    for (size_t i = 0; i < run->chain_count; i++) run->chains[i].s.settings->band.width = k;
}

/* True if warm-up has used its part of --epochs or --seconds. */
static bool over_budget(const sbps_run *run, double rows_used)
{
    const sbps_options *o = run->options;
    double epochs = rows_used / (double)total_rows(run->table->data);
    if (run->plan->epochs_rule && epochs > 0.5 * o->epochs) return true;
    return run->plan->seconds_rule && run->state.seconds_warmup > WARMUP_TIME * o->seconds;
}

/* True if the epoch reached WARMUP_ESS, or the chains are in separate modes. */
static bool epoch_suffices(const sbps_run *run)
{
    return moments_min_ess(run->moments_of, run->chain_count) >= WARMUP_ESS ||
           chains_apart(run, WARMUP_ESS);
}

/* True if warm-up with shrinkage priors has reached its limit. */
static bool scales_are_warm(const sbps_run *run, double proposals)
{
    return run->options->warmup == SIZE_AUTO && run->target->reported_priors &&
           proposals >= (double)(WARMUP_SCALES * run->chain_count);
}

/* True if adaptation in windows has ended and the chains agree or had enough epochs. More draws
 * would hardly improve the metric, and the squares of a sd with long tails never converge. */
static bool windows_are_over(const sbps_run *run, double proposals)
{
    size_t length = run->plan->sampler->warmup;
    bool ended = length > 0 && proposals >= (double)(length * run->chain_count);
    return ended && (run->state.epoch >= WARMUP_WINDOWS || chains_rhat(run) < WARMUP_RHAT);
}

/* True if sweeps, whose steps are nearly independent and start at a fitted point, have forgotten
 * their start. */
static bool sweeps_are_warm(const sbps_run *run, double proposals)
{
    const sampler_kind *kind = run->plan->sampler;
    if (!kind->conditional || proposals < (double)(kind->warmup * run->chain_count))
        return false;
    return run_min_ess(run) >= SWEEP_ESS && chains_rhat(run) < WARMUP_RHAT;
}

/* True if warm-up may end after this many proposals. */
static bool long_enough(const sbps_run *run, double proposals)
{
    const sbps_options *o = run->options;
    if (o->warmup != SIZE_AUTO) return proposals >= (double)(o->warmup * run->chain_count);
    if (run->state.epoch >= WARMUP_EPOCHS || scales_are_warm(run, proposals)) return true;
    if (run->plan->sampler->conditional) return sweeps_are_warm(run, proposals);
    if (windows_are_over(run, proposals)) return true;
    /* samplers that weigh pairs adapt nothing: the ESS is enough */
    if (run->state.epoch < 2 && !run->plan->sampler->pairs) return false;
    return epoch_suffices(run);
}

void warmup_after_round(sbps_run *run)
{
    run_state *s = &run->state;
    double proposals = s->warmup_proposals, rows_used = s->warmup_rows;
    for (size_t i = 0; i < run->chain_count; i++) {
        proposals += (double)run->chains[i].counts->proposals;
        rows_used += (double)run->chains[i].counts->rows;
    }
    /* cut: a limit of the whole run ends warm-up; requested: --warmup does, or the limit for
     * shrinkage priors */
    bool cut = over_budget(run, rows_used) || out_of_work(run);
    bool requested = (run->options->warmup != SIZE_AUTO && long_enough(run, proposals)) ||
                     scales_are_warm(run, proposals);
    if (++s->epoch_rounds < (uint64_t)1 << s->epoch && !cut && !requested) return;
    bool done = cut || long_enough(run, proposals);
    /* the band fits the metric of its epoch: one more epoch after the metric's last change */
    if (done && !cut && !requested && freeze_metric(run)) done = false;
    s->warmup_proposals = proposals;
    s->warmup_rows = rows_used;
    s->epoch_rounds = 0;
    s->epoch++;
    s->goal_reached |= epoch_suffices(run) || sweeps_are_warm(run, proposals);
    choose_band(run);
    if (!cut && !requested && replan_after_epoch(run)) done = false;
    calibrate_all(run, true);
    chains_reset_estimates(run);
    if (done) end(run);
}
