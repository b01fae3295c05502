/* Chains: one block of memory each, over-dispersed starts, rounds shared out over threads. */
#include "inference/run/run.h"

#include "core/decimal.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUND_FRACTION 0.01 /* of the seconds of a run bounded in time */
#define START_DEPTH    10.0 /* above the mode, per coordinate: the normal there has 2 */
#define START_EXTRA    10
#define START_SURE     0.5 /* of that depth, by what was measured on average */
#define START_TRIES    60
#define LOST_DEPTH     100.0 /* likewise, and no path has any business there */
#define LOST_PASSES    10.0  /* of flight a chain, before that is looked at */
#define FIRST_BATCH    0.25  /* first length of a batch of moments, natural units */
#define FIRST_SPACING  0.25  /* first distance of draws, natural units */

static void carve_chain_memory(const sbps_run *run, chain *c)
{
    size_t d = run->target->dim;
    /* without it u'Hu is taken for 1; flights need it as a scale only, steps for the stiffest
     * direction */
    const metric_kind *a = run->plan->metric;
    bool one = a->white || (a->nearly_white && !run->plan->sampler->discrete);
    const double *hessian = one ? NULL : run->reference->hessian;
    auto_facts facts = run_facts(run);
    c->memory.used = 0;
    c->state = arena_take(&c->memory, sizeof *c->state);
    minibatch_carve(&c->batches,
                    auto_widest(&facts, run->plan, run->parts, run->tuned.minibatch),
                    run->target, run->tuned.batch, &c->memory);
    sampler_carve(&c->s, run->plan->sampler, run->a, hessian, run->reference->w, &c->batches.is,
                  &c->memory);
    moments_carve(&c->m, run->watched_count, run->report, run->reference->w, &c->memory);
    c->m.of = run->watched;
    c->counts = arena_take(&c->memory, sizeof *c->counts);
    bias_carve(&c->b, d, run->reference->hessian, c->counts, &c->memory);
    draws_carve(&c->d, d, run->options->draws, &c->memory);
    c->s.warps = run->warped;
    c->batches.parts = run->parts;
    c->batches.bounds = run->bounds;
    minibatch_equip(&c->batches, run->cv,
                    run->plan->sampler->own_noise ? 0.0 : run->options->gradient_noise);
}

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

/* Before any of it is asked for. A result holds the draws once more, and so does the file's image. */
static sbps_status check_memory(const sbps_run *run, sbps_error *err)
{
    chain first = {0};
    double count = (double)ranks_chains(run), requested = (double)run->options->draws;
    carve_chain_memory(run, &first);
    double kept = 2.0 * requested * (double)run->target->dim * sizeof(double);
    double need = count * ((double)first.memory.used + kept), have = machine_memory();
    if (need <= MEMORY_REQUEST_FRACTION * have) return SBPS_OK;
    return fail(err, SBPS_NO_MEM,
                "%.0f chains of %.3g draws of %zu parameters need %.3g GiB of memory, this "
                "machine or container allows %.3g GiB: ask for fewer with --draws or --chains",
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
    run->sent = calloc(run->chain_count, sizeof *run->sent);
    if (!run->chains || !run->moments_of || !run->bias_of || !run->sent)
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
    free(run->sent);
    run->sent = NULL;
    run->chains = NULL;
    run->moments_of = NULL;
    run->bias_of = NULL;
}

/* Where the model wants this chain, from the mode; false where it leaves that to us. */
static bool scatter(const sbps_run *run, size_t index, rng *random, double *p)
{
    const model_kind *model = run->plan->model;
    if (!model->parameters.scatter) return false;
    model->parameters.scatter(run->target->self, index, random, p);
    for (size_t j = 0; j < run->target->dim; j++) p[j] -= run->reference->w[j];
    return true;
}

/* Where rows were seen to leave U about as steep as the normal at the mode, none need be asked. */
static bool surely_near(const sbps_run *run, const double *p, double depth)
{
    if (!run->reference->hessian) return false;
    double square = quadratic_terms(run->target->dim, run->reference->hessian, p);
    return 0.5 * square * run->steepness < START_SURE * depth;
}

/* A posterior may be a wall where the normal at its mode is a slope: the start is moved towards the
 * mode until it is not absurdly deep in it. `w` is scratch. */
static void come_closer(const sbps_run *run, double *w, double *p)
{
    size_t d = run->target->dim;
    double depth = START_DEPTH * (double)(d + START_EXTRA);
    double limit = run->reference->value + depth;
    if (surely_near(run, p, depth)) return;
    for (size_t tries = 0; tries < START_TRIES; tries++) {
        double value = NAN;
        for (size_t j = 0; j < d; j++) w[j] = run->reference->w[j] + p[j];
        if (posterior_value(run->target, w, &value, NULL) != SBPS_OK || value < limit) return;
        for (size_t j = 0; j < d; j++) p[j] *= 0.5;
    }
}

/* U where the chain is, above that of the reference. */
static sbps_status depth_of(const sbps_run *run, const chain *c, double *w, double *out,
                            sbps_error *err)
{
    for (size_t j = 0; j < run->target->dim; j++) w[j] = run->reference->w[j] + c->s.p_next[j];
    sbps_status status = posterior_value(run->target, w, out, err);
    *out -= run->reference->value;
    return status;
}

/* Is it time to ask? Warm-up that cannot end has flown long enough for a few looks at all rows. */
static bool may_be_lost(const sbps_run *run)
{
    const run_state *s = &run->state;
    double passes = s->warmup_rows / (double)(total_rows(&run->data) + 1);
    bool unsettled = s->phase == PHASE_WARMUP && s->epoch_rounds == 0 && !s->settled;
    /* the published method is shown as it is, wherever it goes */
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
            status =
                fail(err, SBPS_DIVERGED,
                     "chain %zu of %s has left the posterior: after a warm-up of %.2g "
                     "proposals that finds no end the log density there is %.3g below that "
                     "of the mode, where %zu parameters make it about %.3g: the slopes that "
                     "it follows are not those of the density",
                     i + 1, run->plan->sampler->name, run->state.warmup_proposals, depth, d,
                     0.5 * (double)d);
    }
    free(w);
    return status;
}

/* At p from the reference, with random numbers of stream `index`. */
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

/* p = spread A z / scale with z standard normal: by default twice as wide as the posterior at the
 * mode. A spread of 0 also keeps the model from choosing. */
static void start_chain(sbps_run *run, chain *c, size_t index)
{
    uint64_t seed = run->options->seed;
    size_t d = run->target->dim;
    rng random = rng_stream(seed, index, RNG_START);
    double *z = c->s.scratch, *p = c->s.gradient;
    double spread = run->options->spread / run->plan->scale;
    for (size_t j = 0; j < d; j++) z[j] = spread * rng_normal(&random);
    if (spread == 0.0 || !scatter(run, index, &random, p)) {
        run->a->kind->forward(run->a, z, p);
        come_closer(run, z, p);
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
    memset(run->sent, 0, run->chain_count * sizeof *run->sent);
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
        minibatch_equip(&run->chains[i].batches, run->cv, run->chains[i].batches.is.noise);
        run->chains[i].batches.parts = run->parts;
        run->chains[i].batches.bounds = run->bounds;
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

/* As things stood when the segment began: before it is counted. */
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

/* Its part of the round is flown, or its share of --epochs is used up. */
static bool round_over(const sbps_run *run, const chain *c)
{
    double pass = (double)total_rows(run->table->data),
           fraction = 1.0 / (double)run->chain_count;
    if (c->state->events >= run->tuned.round_events) return true;
    if (c->state->events > 0 && chain_out_of_work(run, c)) return true;
    return run->plan->epochs_rule && run->state.phase == PHASE_SAMPLING &&
           (double)c->counts->rows >= fraction * run->options->epochs * pass;
}

static void attach_sinks(chain *c, bool sampling)
{
    c->sinks.count = c->skeleton_count = 0;
    if (c->skeleton && sampling) sinks_add(&c->sinks, c, keep_event);
    sinks_add(&c->sinks, c->counts, event_counts_take);
    sinks_add(&c->sinks, &c->m, moments_take);
    sinks_add(&c->sinks, &c->b, bias_take);
    sinks_add(&c->sinks, &c->d, draws_take);
}

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
        if (c->state->failed) return; /* a path without end has no averages either */
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

static bool round_complete(const sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++)
        if (!round_over(run, &run->chains[i])) return false;
    return true;
}

/* Draw i of every chain is at the same time, so that they can be cut to the same number. */
static void align_draws(sbps_run *run)
{
    double spacing = 0.0;
    for (size_t i = 0; i < run->chain_count; i++)
        spacing = fmax(spacing, run->chains[i].d.state->spacing);
    for (size_t i = 0; i < run->chain_count; i++) draws_thin_to(&run->chains[i].d, spacing);
}

static void advance_ours(void *self, size_t index)
{
    size_t first, count;
    ranks_own_chains(self, &first, &count);
    advance_chain(self, first + index);
}

/* Those of this process, at the same time. */
static void advance_own(sbps_run *run)
{
    size_t first, count;
    ranks_own_chains(run, &first, &count);
    if (count == 0) return;
    unsigned all = run->workers.threads, each = all / (unsigned)count;
    run->workers.threads = each > 1 ? each : 1; /* of every chain, for sums over all rows */
    thread_pool_run(run->pool, count, advance_ours, run);
    run->workers.threads = all;
}

/* All of them, one after another, on every rank. */
static void advance_in_step(sbps_run *run)
{
    run->workers.hurried = true;
    for (size_t i = 0; i < run->chain_count; i++) advance_chain(run, i);
    run->workers.hurried = false;
}

bool chains_round(sbps_run *run)
{
    /* a round cut short by an interrupt is completed by the run that resumes it */
    if (round_complete(run)) {
        for (size_t i = 0; i < run->chain_count; i++) run->chains[i].state->events = 0;
        if (run->among) ranks_begin_round(run);
    }
    if (run->among && ranks_in_step(run))
        advance_in_step(run);
    else
        advance_own(run);
    if (run->among) ranks_exchange(run);
    if (!round_complete(run)) return false;
    align_draws(run);
    if (run->among) ranks_note_draws(run);
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
