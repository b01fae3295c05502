/* Chains: one block of memory each, over-dispersed starting points, rounds distributed over
 * threads. */
#include "inference/run/chain.h"
#include "core/decimal.h"
#include "core/printable.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/run.h"
#include "inference/run/run_files.h"
#include "inference/run/set_up.h"
#include "inference/run/stop.h"
#include "inference/run/warmup.h"
#include "linalg/dense_matrix.h"
#include "linalg/pareto.h"
#include "posterior/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns in the caller's memory ----
 *
 * With --storage given the table stays in the caller's memory, which may be changed during the
 * run. A NaN in a column makes sums over rows NaN, which most samplers treat as a rejected
 * proposal: the path would continue and ignore the data. So a NaN sum is checked against the
 * posterior at the reference point, which was finite at set-up. */

/* True if the last step met NaN because the caller's memory was changed: the posterior at the
 * reference is NaN too. Clears the mark of the batch. */
static bool chain_lost_numbers(const sbps_run *run, chain *c)
{
    double value;
    if (!c->batches.is.had_nan) return false;
    c->batches.is.had_nan = false;
    if (!run->data.storage.place || run->ranks.among) return false;
    /* the density may overflow far from the mode, but not at the reference */
    return posterior_value(run->target, run->reference->w, &value, NULL) == SBPS_OK &&
           isnan(value);
}

sbps_status run_check_numbers(const sbps_run *run, sbps_error *err)
{
    const rows *r = &run->data;
    bool failed = false;
    for (size_t i = 0; i < run->chain_count; i++)
        failed = failed || run->chains[i].state->failed;
    for (size_t i = 0; failed && !run->ranks.among && r->storage.place && i < r->local_rows;
         i++)
        for (size_t j = r->intercept; j < r->d; j++) {
            double value = r->storage.kind->cell(r, i, j);
            if (isfinite(value)) continue;
            return fail(
                err, SBPS_BAD_DATA,
                "table:%zu: column '%s' became %s during the run: the caller's memory was "
                "changed, which --storage given does not allow; earlier draws are kept",
                (size_t)r->storage.source_row[i] + 1, show_name(r->table.names[j]).text,
                isnan(value) ? "NaN" : "infinite");
        }
    return SBPS_OK;
}

/* ---- importance weights of all chains: how heavy their tail is ---- */

/* Number of importance weights of all chains. */
static size_t count_weights(const sbps_run *run)
{
    size_t total = 0;
    for (size_t i = 0; run->plan->sampler->weights && i < run->chain_count; i++) {
        size_t count;
        run->plan->sampler->weights(&run->chains[i].s, &count);
        total += count;
    }
    return total;
}

double run_pareto_k(const sbps_run *run)
{
    size_t total = count_weights(run);
    if (total == 0) return NAN;
    double *all = new_doubles(total), *next = all;
    ranked_weight *scratch = malloc(total * sizeof *scratch);
    for (size_t i = 0; all && scratch && i < run->chain_count; i++) {
        size_t count;
        const double *from = run->plan->sampler->weights(&run->chains[i].s, &count);
        memcpy(next, from, count * sizeof *from);
        next += count;
    }
    double k = all && scratch ? pareto_smooth(total, all, scratch) : NAN;
    free(all);
    free(scratch);
    return k;
}

sbps_status run_check_weights(const sbps_run *run, sbps_error *err)
{
    double k = run_pareto_k(run);
    if (!(k > PARETO_TRUSTED)) return SBPS_OK;
    return fail(err, SBPS_DIVERGED,
                "%s: the Pareto k-hat of the importance weights is %.2f, above %g: the Student "
                "t approximation at the mode is too different from this posterior for reliable "
                "estimates; use hmc or sbps",
                run->plan->sampler->name, k, PARETO_TRUSTED);
}

#define ROUND_FRACTION 0.01 /* of --seconds: longest round */
#define START_DEPTH    10.0 /* largest U - U(mode) per coordinate of a start; normal: 2 */
#define START_EXTRA    10
#define START_SURE     0.5 /* fraction of that depth by the normal that needs no check */
#define START_TRIES    60
#define LOST_DEPTH     100.0 /* U - U(mode) per coordinate that no path should reach */
#define LOST_PASSES    10.0  /* passes through the rows per chain before that is checked */
#define FIRST_BATCH    0.25  /* initial length of a batch of moments, natural units */
#define FIRST_SPACING  0.25  /* initial spacing of draws, natural units */

/* Lays out the chain's memory; called twice: to measure it, then to assign it. */
static void carve_chain_memory(const sbps_run *run, chain *c)
{
    size_t d = run->target->dim;
    /* without a Hessian u'Hu is taken as 1; segments need it only as a scale, discrete steps
     * for the stiffest direction */
    const metric_kind *a = run->plan->metric;
    bool one = a->white || (a->nearly_white && !run->plan->sampler->discrete);
    const double *hessian = one ? NULL : run->reference->hessian;
    auto_facts facts = run_facts(run);
    c->memory.used = 0;
    c->state = arena_take(&c->memory, sizeof *c->state);
    minibatch_carve(&c->batches,
                    auto_widest(&facts, run->plan, run->noise.parts, run->tuned.minibatch),
                    run->target, run->tuned.batch, &c->memory);
    c->batches.is.sweep = run->noise.sweep;
    c->batches.is.facts.sweep_numbers = run->noise.sweep ? sweep_numbers(run->noise.sweep) : 0;
    sampler_carve(&c->s, run->plan->sampler, run->geometry.a, hessian, run->reference->w,
                  &c->batches.is, &c->memory);
    moments_carve(&c->m, run->report.watched_count, run->report.value, run->reference->w,
                  &c->memory);
    c->m.of = run->report.watched;
    c->counts = arena_take(&c->memory, sizeof *c->counts);
    bias_carve(&c->b, d, run->reference->hessian, c->counts, &c->memory);
    draws_carve(&c->d, d, run->options->draws, &c->memory);
    c->s.warps = run->geometry.warped;
    c->batches.parts = run->noise.parts;
    c->batches.bounds = run->noise.bounds;
    minibatch_equip(&c->batches, run->noise.cv,
                    run->plan->sampler->own_noise ? 0.0 : run->options->gradient_noise);
}

/* Allocates the memory of a chain. */
static sbps_status chain_create(const sbps_run *run, chain *c, sbps_error *err)
{
    carve_chain_memory(run, c);
    c->memory.size = c->memory.used;
    c->memory.base = aligned_zeroed(c->memory.size);
    if (!c->memory.base) return fail_memory(err);
    carve_chain_memory(run, c);
    if (!run->options->skeleton) return SBPS_OK;
    c->skeleton = new_doubles(run->tuned.round_events * skeleton_width(run->target->dim));
    return c->skeleton ? SBPS_OK : fail_memory(err);
}

/* Checks the memory for all chains before any is allocated. A result and the image of its file
 * each hold another copy of the draws. */
static sbps_status check_memory(const sbps_run *run, sbps_error *err)
{
    chain first = {0};
    double count = (double)ranks_chains(run), requested = (double)run->options->draws;
    carve_chain_memory(run, &first);
    double kept = 2.0 * requested * (double)run->target->dim * sizeof(double);
    double need = count * ((double)first.memory.used + kept), have = machine_memory();
    if (need <= MEMORY_REQUEST_FRACTION * have) return SBPS_OK;
    return fail(err, SBPS_NO_MEM,
                "%.0f chains of %.3g draws of %zu parameters need %.3g GiB of memory, but this "
                "machine or container allows %.3g GiB: reduce --draws or --chains",
                count, requested, run->target->dim, need / 0x1p30, have / 0x1p30);
}

sbps_status chains_create(sbps_run *run, sbps_error *err)
{
    sbps_status enough = check_memory(run, err);
    if (enough != SBPS_OK) return enough;
    run->chain_count = ranks_chains(run);
    run->chains = calloc(run->chain_count, sizeof *run->chains);
    run->moments_of = calloc(run->chain_count, sizeof *run->moments_of);
    run->bias_of = calloc(run->chain_count, sizeof *run->bias_of);
    run->ranks.sent = calloc(run->chain_count, sizeof *run->ranks.sent);
    if (!run->chains || !run->moments_of || !run->bias_of || !run->ranks.sent)
        return fail_memory(err);
    for (size_t i = 0; i < run->chain_count; i++) {
        sbps_status status = chain_create(run, &run->chains[i], err);
        if (status != SBPS_OK) return status;
        run->moments_of[i] = run->chains[i].m;
        run->bias_of[i] = run->chains[i].b;
    }
    return SBPS_OK;
}

void chains_destroy(sbps_run *run)
{
    for (size_t i = 0; run->chains && i < run->chain_count; i++) {
        minibatch_release(&run->chains[i].batches);
        free(run->chains[i].memory.base);
        free(run->chains[i].skeleton);
        free(run->chains[i].trace.records);
    }
    free(run->chains);
    free(run->moments_of);
    free(run->bias_of);
    free(run->ranks.sent);
    run->ranks.sent = NULL;
    run->chains = NULL;
    run->moments_of = NULL;
    run->bias_of = NULL;
}

/* The start that the model proposes for this chain, relative to the mode, into p. False: it has
 * no proposal. */
static bool scatter(const sbps_run *run, size_t index, rng *random, double *p)
{
    const model_kind *model = run->plan->model;
    if (!model->parameters.scatter) return false;
    model->parameters.scatter(run->target->self, index, random, p);
    for (size_t j = 0; j < run->target->dim; j++) p[j] -= run->reference->w[j];
    return true;
}

/* True if U at p is known to be near its quadratic approximation, so that it need not be
 * evaluated. */
static bool start_is_near(const sbps_run *run, const double *p, double depth)
{
    if (!run->reference->hessian) return false;
    double square = quadratic_terms(run->target->dim, run->reference->hessian, p);
    return 0.5 * square * run->geometry.steepness < START_SURE * depth;
}

/* Halves p until U there is within START_DEPTH of the mode: U may be much steeper than the
 * normal at the mode. w: scratch, dim. */
static void shrink_start(const sbps_run *run, double *w, double *p)
{
    size_t d = run->target->dim;
    double depth = START_DEPTH * (double)(d + START_EXTRA);
    double limit = run->reference->value + depth;
    if (start_is_near(run, p, depth)) return;
    for (size_t tries = 0; tries < START_TRIES; tries++) {
        double value = NAN;
        for (size_t j = 0; j < d; j++) w[j] = run->reference->w[j] + p[j];
        if (posterior_value(run->target, w, &value, NULL) != SBPS_OK || value < limit) return;
        for (size_t j = 0; j < d; j++) p[j] *= 0.5;
    }
}

/* U at the chain's position minus U at the reference. */
static sbps_status depth_of(const sbps_run *run, const chain *c, double *w, double *out,
                            sbps_error *err)
{
    for (size_t j = 0; j < run->target->dim; j++) w[j] = run->reference->w[j] + c->s.p_next[j];
    sbps_status status = posterior_value(run->target, w, out, err);
    *out -= run->reference->value;
    return status;
}

/* True if warm-up has not converged after LOST_PASSES passes, so that evaluating U at every
 * chain costs little in comparison. */
static bool may_be_lost(const sbps_run *run)
{
    const run_state *s = &run->state;
    double passes = s->warmup_rows / (double)(total_rows(&run->data) + 1);
    bool unsettled = s->phase == PHASE_WARMUP && s->epoch_rounds == 0 && !s->goal_reached;
    /* --paper shows the published method unchanged, divergent or not */
    return unsettled && !run->options->paper &&
           passes >= LOST_PASSES * (double)run->chain_count;
}

sbps_status chains_check_depth(const sbps_run *run, sbps_error *err)
{
    size_t d = run->target->dim;
    double max_depth = LOST_DEPTH * (double)(d + START_EXTRA), depth = 0.0;
    double *w = may_be_lost(run) ? new_doubles(d) : NULL;
    sbps_status status = SBPS_OK;
    for (size_t i = 0; w && i < run->chain_count && status == SBPS_OK; i++) {
        status = depth_of(run, &run->chains[i], w, &depth, err);
        if (status == SBPS_OK && !(depth <= max_depth))
            status = fail(
                err, SBPS_DIVERGED,
                "chain %zu of %s has left the posterior: after %.2g warm-up proposals its log "
                "density is %.3g below that of the mode, while about %.3g is normal for %zu "
                "parameters: the gradient of the model does not seem to match its log density",
                i + 1, run->plan->sampler->name, run->state.warmup_proposals, depth,
                0.5 * (double)d, d);
    }
    free(w);
    return status;
}

/* Starts the chain at reference + p, with the random number stream `index`. */
static void start_at(sbps_run *run, chain *c, const double *p, size_t index)
{
    uint64_t seed = run->options->seed;
    *c->s.settings = run->plan->settings;
    minibatch_start(&c->batches, rng_stream(seed, index, RNG_BATCH));
    minibatch_resize(&c->batches, run->tuned.minibatch, run->tuned.batch);
    *c->state = (chain_state){.events = run->tuned.round_events, .begun = EVENT_START};
    c->s.kind->start(&c->s, p, rng_stream(seed, index, RNG_PATH));
}

void chains_start_at(sbps_run *run, const double *points)
{
    for (size_t i = 0; i < run->chain_count; i++)
        start_at(run, &run->chains[i], points + i * run->target->dim, run->chain_count + i);
    chains_reset_estimates(run);
}

/* Starts the chain at p = spread A z / scale with z standard normal, by default twice as wide
 * as the normal at the mode. With spread 0 the model's own proposal is not used either. */
static void start_chain(sbps_run *run, chain *c, size_t index)
{
    uint64_t seed = run->options->seed;
    size_t d = run->target->dim;
    rng random = rng_stream(seed, index, RNG_START);
    double *z = c->s.scratch, *p = c->s.gradient;
    double spread = run->options->spread / run->plan->scale;
    for (size_t j = 0; j < d; j++) z[j] = spread * rng_normal(&random);
    if (run->options->prior_only) {
        memset(p, 0, d * sizeof *p); /* the sampler draws its own start */
    } else if (spread == 0.0 || !scatter(run, index, &random, p)) {
        run->geometry.a->kind->forward(run->geometry.a, z, p);
        if (!run->plan->sampler->conditional) shrink_start(run, z, p);
    }
    start_at(run, c, p, index);
}

void chains_start(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) start_chain(run, &run->chains[i], i);
    chains_reset_estimates(run);
}

void chains_reset_estimates(sbps_run *run)
{
    memset(run->ranks.sent, 0, run->chain_count * sizeof *run->ranks.sent);
    for (size_t i = 0; i < run->chain_count; i++) {
        chain *c = &run->chains[i];
        bool discrete = run->plan->sampler->discrete;
        moments_start(&c->m, discrete ? 1.0 : FIRST_BATCH / run->plan->scale);
        *c->counts = (event_counts){0};
        bias_start(&c->b);
        draws_start(&c->d, discrete ? 1.0 : FIRST_SPACING / run->plan->scale);
    }
}

void chains_take_control(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        minibatch_equip(&run->chains[i].batches, run->noise.cv,
                        run->chains[i].batches.is.noise);
        run->chains[i].batches.parts = run->noise.parts;
        run->chains[i].batches.bounds = run->noise.bounds;
    }
}

void chains_take_batch(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++)
        minibatch_resize(&run->chains[i].batches, run->tuned.minibatch, run->tuned.batch);
}

void chains_restore(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) minibatch_restore(&run->chains[i].batches);
    run->tuned.minibatch = run->chains->batches.kind;
    run->tuned.batch = run->chains->batches.state->n;
}

/* Sink for --skeleton: records the event at the beginning of a segment, with the counts before
 * it. */
static void keep_event(void *self, const segment *s)
{
    chain *c = self;
    double *record = c->skeleton + c->skeleton_count++ * skeleton_width(s->dim);
    *record++ = c->counts->time;
    *record++ = (double)c->state->begun;
    *record++ = (double)c->counts->rows;
    for (size_t j = 0; j < s->dim; j++) record[j] = s->centre[j] + s->p[j];
    memcpy(record + s->dim, s->q, s->dim * sizeof *s->q);
}

/* Sets the time by which --seconds ends the round; a step can take a second by itself. Ranks would
 * stop at different steps: they have no deadline. */
static void set_deadline(sbps_run *run)
{
    const run_state *s = &run->state;
    double limit = run->options->seconds;
    double left = s->phase == PHASE_WARMUP ? WARMUP_TIME * limit - s->seconds_warmup
                                           : limit - s->seconds_warmup - s->seconds_sampling;
    bool none = !run->plan->seconds_rule || run->ranks.among;
    run->deadline = none ? INFINITY : now() + left;
}

/* True if the chain has completed the round, or its part of --epochs or --seconds. */
static bool round_over(const sbps_run *run, const chain *c)
{
    double pass = (double)total_rows(run->table->data),
           fraction = 1.0 / (double)run->chain_count;
    if (c->state->events >= run->tuned.round_events) return true;
    if (c->state->events > 0 && chain_out_of_work(run, c)) return true;
    if (c->state->events > 0 && isfinite(run->deadline) && now() > run->deadline) return true;
    return run->plan->epochs_rule && run->state.phase == PHASE_SAMPLING &&
           (double)c->counts->rows >= fraction * run->options->epochs * pass;
}

/* Connects the estimators that receive the chain's segments in this round. */
static void attach_sinks(chain *c, bool sampling)
{
    c->sinks.count = c->skeleton_count = 0;
    if (c->skeleton && sampling) sinks_add(&c->sinks, c, keep_event);
    sinks_add(&c->sinks, c->counts, event_counts_take);
    sinks_add(&c->sinks, &c->m, moments_take);
    sinks_add(&c->sinks, &c->b, bias_take);
    sinks_add(&c->sinks, &c->d, draws_take);
}

/* Advances chain `index` to the end of the round, an interrupt, or a failure. Runs on any
 * thread. */
static void advance_chain(void *self, size_t index)
{
    sbps_run *run = self;
    chain *c = &run->chains[index];
    bool sampling = run->state.phase == PHASE_SAMPLING;
    attach_sinks(c, sampling);
    trace_switch(c, sampling);
    for (; !round_over(run, c) && !c->state->failed; c->state->events++) {
        segment s;
        if (ranks_interrupted(run)) return;
        if (model_failure(run->target->model, run->target->self)) return;
        c->s.kind->step(&c->s, &s);
        c->state->failed = s.end->failed || !isfinite(s.dt) || chain_lost_numbers(run, c);
        if (c->state->failed) return; /* an infinite segment has no averages */
        sinks_take(&c->sinks, &s);
        c->state->begun = s.end->kind;
    }
}

void chains_lengthen_rounds(sbps_run *run, double seconds)
{
    size_t *events = &run->tuned.round_events;
    bool whole = true;
    for (size_t i = 0; i < run->chain_count; i++)
        whole = whole && run->chains[i].state->events == *events;
    if (!whole || run->options->skeleton || *events >= PLAN_ROUND_EVENTS) return;
    if (seconds > ROUND_FRACTION * run->options->seconds) return;
    *events *= 2;
    for (size_t i = 0; i < run->chain_count; i++) run->chains[i].state->events = *events;
}

/* True if all chains have completed the round. */
static bool round_complete(const sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++)
        if (!round_over(run, &run->chains[i])) return false;
    return true;
}

/* Thins the draws of all chains to the largest spacing, so that draw i of every chain is at the
 * same path time. */
static void align_draws(sbps_run *run)
{
    double spacing = 0.0;
    for (size_t i = 0; i < run->chain_count; i++)
        spacing = fmax(spacing, run->chains[i].d.state->spacing);
    for (size_t i = 0; i < run->chain_count; i++) draws_thin_to(&run->chains[i].d, spacing);
}

/* Advances the chain number `index` of this process. */
static void advance_ours(void *self, size_t index)
{
    size_t first, count;
    ranks_own_chains(self, &first, &count);
    advance_chain(self, first + index);
}

/* Advances the chains of this process in parallel. */
static void advance_own(sbps_run *run)
{
    size_t first, count;
    ranks_own_chains(run, &first, &count);
    if (count == 0) return;
    unsigned all = run->workers.threads, each = all / (unsigned)count;
    run->workers.threads = each > 1 ? each : 1; /* threads per chain, for sums over all rows */
    thread_pool_run(run->pool, count, advance_ours, run);
    run->workers.threads = all;
}

/* Advances all chains one after another, on every rank at the same time. */
static void advance_in_step(sbps_run *run)
{
    run->workers.hurried = true;
    for (size_t i = 0; i < run->chain_count; i++) advance_chain(run, i);
    run->workers.hurried = false;
}

bool chains_round(sbps_run *run)
{
    set_deadline(run); /* before any round is judged complete */
    /* a round cut short by an interrupt is completed by the run that resumes it */
    if (round_complete(run)) {
        for (size_t i = 0; i < run->chain_count; i++) run->chains[i].state->events = 0;
        if (run->ranks.among) ranks_begin_round(run);
    }
    if (run->ranks.among && ranks_in_step(run))
        advance_in_step(run);
    else
        advance_own(run);
    if (run->ranks.among) ranks_exchange(run);
    if (!round_complete(run)) return false;
    align_draws(run);
    if (run->ranks.among) ranks_record_sent(run);
    return true;
}

sbps_status chains_check(const sbps_run *run, sbps_error *err)
{
    const char *remedy = run->plan->sampler->remedy;
    for (size_t i = 0; i < run->chain_count; i++) {
        if (!run->chains[i].state->failed) continue;
        char size[64] = "";
        double h = run->chains[i].s.settings->step_size;
        if (!isnan(h)) decimal_print(size, sizeof size, " with step size %g", h);
        return fail(err, SBPS_DIVERGED, "chain %zu of %s diverged%s%s%s", i + 1,
                    run->plan->sampler->name, size, remedy ? ": " : "", remedy ? remedy : "");
    }
    return SBPS_OK;
}
