/* A run from set-up to its last round. */
#include "run/run.h"
#include "base/cholesky.h"
#include "base/memory.h"
#include "choose/target.h"
#include "mode/profile.h"
#include "run/replan.h"

#include <math.h>
#include <string.h>
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- set-up ---- */

#define GATHER_DIM  ((size_t)2000) /* beyond, matrices are what memory goes to */
#define STEEP_LEAST 2.0            /* U over its normal, where chains start */

static sbps_status name_parameters(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    run->report = calloc(u->dim, sizeof *run->report);
    if (!run->report) return fail_memory(err);
    for (size_t j = 0; j < u->dim; j++) run->report[j] = u->scale[j] == SCALE_LOG ? exp : NULL;
    return target_names(u, &run->names, err);
}

static sbps_status make_target(sbps_run *run, sbps_error *err)
{
    const rows *data = &run->data;
    run_plan *plan = run->plans;
    sbps_status status = plan_make(run->options, data, plan, err);
    if (status != SBPS_OK) return status;
    status = target_open(run->options, data, plan->model, &run->target, err);
    return status == SBPS_OK ? plan_check_sampler(plan, run->target, err) : status;
}

/* What set-up knows of every row, gathered on its way to the reference. */
typedef struct {
    auto_influences measured;
    gathering *gathered; /* NULL: nothing is */
} findings;

static void findings_close(findings *f)
{
    gathering_close(f->gathered);
    auto_influences_close(&f->measured);
}

static sbps_status findings_open(sbps_run *run, findings *f, sbps_error *err)
{
    const run_plan *plan = run->plans;
    bool wanted = auto_wanted(run->options, plan);
    bool with_control = strcmp(plan->control_variate, "none");
    sbps_status status =
        auto_influences_open(run->options, plan, run->target, &f->measured, err);
    if (status != SBPS_OK) return status;
    run->steepness = INFINITY;
    run->moving = (row_effects){EFFECT_LEAST, 0, EFFECTS_MOST, run->moving_rows};
    f->measured.to.effects = &run->moving;
    f->measured.to.steepness = &run->steepness;
    f->measured.to.spread = run->options->spread;
    bool small = run->target->dim <= GATHER_DIM;
    if (!posterior_expands(run->target) || plan->sampler->full || !(wanted || with_control) ||
        !small)
        return SBPS_OK;
    bool influence = wanted && influence_applies(run->target);
    return gathering_open(run->target, influence ? &f->measured.to : NULL, &f->gathered, err);
}

/* Was the last look of the search the one at the point it has found? */
static void check_findings(const sbps_run *run, findings *f)
{
    const gathering *g = f->gathered;
    size_t bytes = run->target->dim * sizeof(double);
    bool whole = g && g->whole && !memcmp(g->control->w, run->reference->w, bytes);
    f->measured.known = whole && g->in;
    if (whole || !g) return;
    gathering_close(f->gathered);
    f->gathered = NULL;
}

/* Where rows bend U within the posterior's reach, near the mode is not the same as at it. */
static sbps_status go_all_the_way(sbps_run *run, findings *f, sbps_error *err)
{
    mode *near = run->reference;
    if (!f->measured.known || !(run->steepness > STEEP_LEAST)) return SBPS_OK;
    sbps_status status = mode_find(run->target, near->w, &run->reference, err);
    mode_destroy(near);
    gathering_close(f->gathered);
    f->gathered = NULL;
    f->measured.known = false;
    return status;
}

/* The mode or a point near it, or that of a file in its place. */
static sbps_status find_reference(sbps_run *run, findings *f, sbps_error *err)
{
    start_point start;
    sbps_status status = target_start(run->options, run->target, run->names, &start, err);
    run->start_hash = start.hash;
    run->start_metric = start.precision;
    if (status == SBPS_OK)
        status = start.hash
                     ? mode_take(run->target, start.w, start.precision, &run->reference, err)
                     : mode_near(run->target, start.w, f->gathered, &run->reference, err);
    start_release(&start);
    if (status != SBPS_OK) return status;
    check_findings(run, f);
    return go_all_the_way(run, f, err);
}

static sbps_status factor_hessian(sbps_run *run, sbps_error *err)
{
    size_t d = run->target->dim;
    run->factor = new_doubles(d * d);
    if (!run->factor) return fail_memory(err);
    memcpy(run->factor, run->reference->hessian, d * d * sizeof *run->factor);
    if (cholesky(d, run->factor)) return SBPS_OK;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

sbps_status run_control(const sbps_run *run, const char *name, const double *w, control **out,
                        sbps_error *err)
{
    return target_control(run->target, run->reference, name, w, out, err);
}

auto_facts run_facts(const sbps_run *run)
{
    return (auto_facts){run->options, run->target, run->reference, run->factor, run->a};
}

void run_follow(sbps_run *run, const run_plan *plan)
{
    run->plan = plan;
    run->tuned = (run_tuning){plan->minibatch, plan->batch, plan->round_events};
}

/* The rest of the plan, which needs the mode; nothing of it is changed afterwards. */
static sbps_status finish_plan(sbps_run *run, findings *f, sbps_error *err)
{
    sbps_status status;
    run_plan *plan = run->plans, chosen;
    auto_choice choice;
    status = plan_metric(plan, run->target, run->reference, &run->a, err);
    if (status == SBPS_OK)
        status = plan_finish(plan, run->options, run->reference, run->a, err);
    if (status != SBPS_OK) return status;
    auto_facts facts = run_facts(run);
    status = auto_choose(&facts, plan, &f->measured, &choice, err);
    if (status != SBPS_OK) return status;
    run->parts = choice.parts;
    run->tally = choice.tally;
    if (choice.hmc) {
        status = plan_take_hmc(plan, run->target, run->reference, &run->a, &chosen, err);
        *plan = chosen;
    }
    run_follow(run, plan);
    return status;
}

static sbps_status make_control(sbps_run *run, findings *f, sbps_error *err)
{
    size_t d = run->target->dim;
    const char *name = run->plan->control_variate;
    run->anchor = new_doubles(d);
    if (!run->anchor) return fail_memory(err);
    memcpy(run->anchor, run->reference->w, d * sizeof *run->anchor);
    if (!f->gathered || !strcmp(name, "none"))
        return run_control(run, name, run->reference->w, &run->cv, err);
    run->cv = f->gathered->control;
    f->gathered->control = NULL;
    if (strcmp(name, "hessian")) control_reduce(run->target, run->cv);
    return SBPS_OK;
}

static void transpose(const void *self, const double *x, double *out)
{
    const metric *a = self;
    a->kind->transpose(a, x, out);
}

sbps_status run_bound_pairs(sbps_run *run, sbps_error *err)
{
    row_bounds_destroy(run->bounds);
    run->bounds = NULL;
    if (!run->plan->sampler->pairs) return SBPS_OK;
    return row_bounds_create(run->target, run->cv, (row_map){run->a, transpose},
                             run->a->kind->white, &run->bounds, err);
}

sbps_status run_find_bends(sbps_run *run, sbps_error *err)
{
    free(run->bent);
    run->bent = NULL;
    if (!run->plan->sampler->bends || run->options->paper) return SBPS_OK;
    if (run->reference->gradient_norm < PROFILE_FROM)
        return profile_bends(run->target, run->reference, run->a, &run->bent, err);
    mode *found;
    sbps_status status = mode_find(run->target, run->reference->w, &found, err);
    if (status != SBPS_OK) return SBPS_OK; /* a reference that is no mode */
    status = profile_bends(run->target, found, run->a, &run->bent, err);
    mode_destroy(found);
    return status;
}

/* Up to all that is asked of all rows. */
static sbps_status see_rows(sbps_run *run, findings *f, sbps_error *err)
{
    sbps_status status;
    if ((status = findings_open(run, f, err)) != SBPS_OK) return status;
    if ((status = find_reference(run, f, err)) != SBPS_OK) return status;
    if ((status = factor_hessian(run, err)) != SBPS_OK) return status;
    if ((status = finish_plan(run, f, err)) != SBPS_OK) return status;
    if ((status = make_control(run, f, err)) != SBPS_OK) return status;
    if ((status = run_bound_pairs(run, err)) != SBPS_OK) return status;
    return run_find_bends(run, err);
}

rows crew_take(const sbps_table *table, const sbps_options *options, struct row_crew *crew)
{
    rows with = *table->data;
    size_t threads = options->threads == SIZE_AUTO ? processors() : options->threads;
    *crew = (struct row_crew){.threads = (unsigned)threads, .shown = table->visited};
    with.crew = crew;
    return with;
}

static sbps_status set_up(sbps_run *run, sbps_error *err)
{
    sbps_status status;
    findings found = {0};
    run->data = crew_take(run->table, run->options, &run->crew);
    size_t threads = run->crew.threads;
    if (threads > run->options->chains) threads = run->options->chains;
    if ((status = make_target(run, err)) != SBPS_OK) return status;
    if ((status = name_parameters(run, err)) != SBPS_OK) return status;
    status = see_rows(run, &found, err);
    findings_close(&found);
    if (status != SBPS_OK) return status;
    if ((status = chains_create(run, err)) != SBPS_OK) return status;
    if ((status = thread_pool_create(threads, &run->pool, err)) != SBPS_OK) return status;
    chains_start(run);
    warmup_begin(run);
    run->passes_setup = (double)atomic_load(&run->crew.visited) / (double)run->data.n;
    return files_open(run, err);
}

sbps_status run_create(const sbps_table *table, const sbps_options *options, sbps_run **out,
                       sbps_error *err)
{
    *out = NULL;
    double begin = now();
    sbps_run *run = calloc(1, sizeof *run);
    if (!run) return fail_memory(err);
    run->table = table;
    atomic_init(&run->interrupt, false);
    sbps_status status = options_copy(options, &run->options, err);
    if (status == SBPS_OK) status = set_up(run, err);
    if (status != SBPS_OK) {
        run_destroy(run);
        return status;
    }
    run->seconds_setup = now() - begin;
    *out = run;
    return SBPS_OK;
}

void run_destroy(sbps_run *run)
{
    if (!run) return;
    files_close(run);
    thread_pool_destroy(run->pool);
    chains_destroy(run);
    control_destroy(run->cv);
    row_bounds_destroy(run->bounds);
    strata_destroy(run->parts);
    free(run->anchor);
    metric_destroy(run->a);
    free(run->bent);
    mode_destroy(run->reference);
    free(run->factor);
    if (run->names) free_texts(run->names, run->target->dim);
    free(run->report);
    posterior_destroy(run->target);
    options_destroy(run->options);
    free(run);
}

/* ---- advance ---- */

sbps_status run_advance(sbps_run *run, bool *finished, sbps_error *err)
{
    run_state *s = &run->state;
    double begin = now();
    bool warming_up = s->phase == PHASE_WARMUP;
    *finished = s->phase == PHASE_DONE;
    if (*finished) return SBPS_OK;
    bool whole = chains_round(run);
    sbps_status status = chains_check(run, err);
    if (status == SBPS_OK) status = run_check_weights(run, err);
    if (status != SBPS_OK) return status;
    *(warming_up ? &s->seconds_warmup : &s->seconds_sampling) += now() - begin;
    if (run->plan->seconds_rule) chains_lengthen_rounds(run, now() - begin);
    if (whole) {
        s->rounds++;
        if (warming_up) warmup_after_round(run);
        if (!warming_up && stop_now(run)) s->phase = PHASE_DONE;
        if (warming_up && (status = replan_after_round(run, err)) != SBPS_OK) return status;
    }
    if (s->phase != PHASE_WARMUP) run->share = fmax(run->share, stop_share(run));
    *finished = !whole || s->phase == PHASE_DONE;
    return files_after_round(run, *finished, err);
}

void run_progress(const sbps_run *run, sbps_progress *out)
{
    const run_state *s = &run->state;
    double share = fmax(run->share, stop_share(run)), proposals = s->warmup_proposals;
    *out = (sbps_progress){.warming_up = s->phase == PHASE_WARMUP, .rounds = s->rounds};
    out->share_done = s->phase == PHASE_WARMUP ? 0.0 : share;
    out->seconds = s->seconds_warmup + s->seconds_sampling;
    out->seconds_left = share > 0.0 && s->phase == PHASE_SAMPLING
                            ? s->seconds_sampling * fmax(1.0 / share - 1.0, 0.0)
                            : NAN;
    out->max_rhat = NAN;
    for (size_t i = 0; i < run->chain_count; i++)
        proposals += (double)run->chains[i].counts->proposals;
    for (size_t j = 0; j < run->target->dim; j++)
        out->max_rhat =
            fmax(out->max_rhat, moments_summarize(run->moments_of, run->chain_count, j).rhat);
    out->proposals = proposals;
    out->proposals_per_second = out->seconds > 0.0 ? proposals / out->seconds : 0.0;
    out->min_ess = moments_min_ess(run->moments_of, run->chain_count);
    out->bias_estimate = run_bias_quick(run);
}
