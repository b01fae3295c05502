/* What a run is made of before its first round: target, reference, plan, control variate, chains. All that is asked
 * of all rows is asked on the way to the reference, see findings. */
#include "core/decimal.h"
#include "core/memory.h"
#include "inference/options/crossed_method.h"
#include "inference/options/target.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "posterior/mode/profile.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_DIM ((size_t)2000) /* beyond, matrices are what memory goes to */
#define STEEP_MIN  2.0            /* U over its normal, where chains start */
/* Where there is no Hessian: effects that are watched, at most; draws of a chain, at least; and numbers kept of one */
#define WATCHED_EFFECTS ((size_t)16)
#define WIDE_DRAWS      250.0
#define WIDE_NUMBERS    1e7

static sbps_status name_parameters(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    run->report = calloc(u->dim, sizeof *run->report);
    if (!run->report) return fail_memory(err);
    for (size_t j = 0; j < u->dim; j++) {
        model_derived of;
        bool watched = posterior_derived(u, j, &of) && of.watched;
        run->report[j] = scale_function(watched ? SCALE_PLAIN : u->scale[j]);
    }
    sbps_status status = target_names(u, &run->names, err);
    return status == SBPS_OK ? target_reported_names(u, &run->reported_names, err) : status;
}

/* Of a model with thousands of effects some of them stand for all while it runs, and fewer draws are kept. */
static sbps_status choose_watched(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    size_t others = u->dim - derived_parameters(u), every = others / WATCHED_EFFECTS + 1;
    run->watched_count = u->dim;
    if (!u->model->transformation.apply || every == 1) return SBPS_OK;
    double kept = fmax(WIDE_NUMBERS / (double)u->dim, WIDE_DRAWS);
    if (!option_given(run->options, "draws") && kept < (double)run->options->draws)
        run->options->draws = (size_t)kept;
    run->watched = calloc(u->dim, sizeof *run->watched);
    if (!run->watched) return fail_memory(err);
    run->watched_count = 0;
    for (size_t j = 0, effect = 0; j < u->dim; j++)
        if (!derived_is_effect(u, j) || effect++ % every == 0)
            run->watched[run->watched_count++] = j;
    return SBPS_OK;
}

static sbps_status make_target(sbps_run *run, sbps_error *err)
{
    const rows *data = &run->data;
    run_plan *plan = run->plans;
    sbps_status status = plan_make(run->options, data, plan, err);
    if (status != SBPS_OK) return status;
    if (run->options->no_integrals)
        snprintf(plan->why, sizeof plan->why, "%s", run->options->no_integrals);
    if ((status = ranks_check_plan(run, err)) != SBPS_OK) return status;
    run->data.recompute_rows = auto_recompute_rows(run->options, data, plan);
    status = target_open(run->options, data, plan->model, &run->target, err);
    return status == SBPS_OK ? plan_check_sampler(plan, run->target, err) : status;
}

/* What set-up knows of every row, gathered on its way to the reference. */
typedef struct {
    auto_influences measured;
    row_reach reach;     /* of exact samplers; norm NULL: not wanted */
    row_cache *gathered; /* NULL: nothing is */
} setup_cache;

static void setup_cache_close(setup_cache *f)
{
    row_cache_close(f->gathered);
    auto_influences_close(&f->measured);
    free(f->reach.norm);
    free(f->reach.third_sum);
    free(f->reach.factor);
}

static sbps_status reach_open(const posterior *u, setup_cache *f, sbps_error *err)
{
    f->reach.norm = malloc(u->data->local_rows * sizeof *f->reach.norm);
    f->reach.third_sum = new_doubles(u->dim);
    f->reach.factor = new_doubles(u->dim * u->dim);
    f->measured.to.reach = &f->reach;
    return f->reach.norm && f->reach.third_sum && f->reach.factor ? SBPS_OK : fail_memory(err);
}

/* What rows do at the starts of chains is asked of them on the way. */
static bool starts_matter(const run_plan *plan)
{
    return plan->sampler->pairs || plan->sampler->independent;
}

static sbps_status setup_cache_open(sbps_run *run, setup_cache *f, sbps_error *err)
{
    const run_plan *plan = run->plans;
    bool automatic = auto_applies(run->options, plan);
    bool with_control = strcmp(plan->control_variate, "none");
    sbps_status status =
        auto_influences_open(run->options, plan, run->target, &f->measured, err);
    if (status != SBPS_OK) return status;
    run->steepness = INFINITY;
    run->moving = (row_effects){EFFECT_MIN, 0, EFFECTS_MAX, run->moving_rows};
    f->measured.to.effects = &run->moving;
    f->measured.to.steepness = &run->steepness;
    f->measured.to.spread = run->options->spread;
    bool small = run->target->dim <= GATHER_DIM, needs_starts = starts_matter(plan);
    if (!run->target->model->predictor || (plan->sampler->full && !needs_starts) ||
        !(automatic || with_control || needs_starts) || !small)
        return SBPS_OK;
    bool influence = (automatic || needs_starts) && influence_applies(run->target) &&
                     !run->data.storage.recipe;
    bool reach =
        influence_has_reach(run->target) && !run->among &&
        (plan->sampler->pairs || auto_may_take_surrogate(run->options, plan, run->target));
    if (reach && (status = reach_open(run->target, f, err)) != SBPS_OK) return status;
    return row_cache_open(run->target, influence ? &f->measured.to : NULL, &f->gathered, err);
}

/* Was the last look of the search the one at the point it has found? */
static void check_setup_cache(const sbps_run *run, setup_cache *f)
{
    const row_cache *g = f->gathered;
    size_t bytes = run->target->dim * sizeof(double);
    bool whole = g && g->complete && !memcmp(g->control->w, run->reference->w, bytes);
    f->measured.known = whole && g->in;
    if (whole || !g) return;
    row_cache_close(f->gathered);
    f->gathered = NULL;
}

/* Where rows bend U within the posterior's reach, near the mode is not the same as at it. */
static sbps_status go_all_the_way(sbps_run *run, setup_cache *f, sbps_error *err)
{
    mode *near = run->reference;
    if (!f->measured.known || !(run->steepness > STEEP_MIN)) return SBPS_OK;
    sbps_status status = mode_find(run->target, near->w, &run->reference, err);
    mode_destroy(near);
    row_cache_close(f->gathered);
    f->gathered = NULL;
    f->measured.known = false;
    return status;
}

/* The mode or a point near it, or that of a file in its place. */
static sbps_status find_reference(sbps_run *run, setup_cache *f, sbps_error *err)
{
    start_point start;
    sbps_status status = target_start(run->options, run->target, run->names, &start, err);
    run->start_hash = start.hash;
    run->start_metric = start.precision;
    if (status == SBPS_OK && run->target->model->transformation.apply) {
        status = wide_find(run->target, start.hash != 0, &run->a, &run->reference, err);
        start_release(&start);
        return status;
    }
    if (status == SBPS_OK) status = groups_ready(run->target, start.hash != 0, err);
    if (status == SBPS_OK)
        status = start.hash
                     ? mode_take(run->target, start.w, start.precision, &run->reference, err)
                 : run->target->model->row_model
                     ? groups_near(run->target, start.w, &run->reference, err)
                     : mode_near(run->target, start.w, f->gathered, &run->reference, err);
    start_release(&start);
    if (status != SBPS_OK) return status;
    check_setup_cache(run, f);
    if ((status = go_all_the_way(run, f, err)) != SBPS_OK) return status;
    const mode_request how = {.method = run->start_hash ? NULL : "auto"};
    return groups_choose_nodes(run->target, &how, &run->reference, &run->rule, err);
}

static sbps_status factor_hessian(sbps_run *run, sbps_error *err)
{
    size_t d = run->target->dim;
    if (!run->reference->hessian) return SBPS_OK;
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

static void apply_transpose(const void *self, const double *x, double *out)
{
    const metric *a = self;
    a->kind->transpose(a, x, out);
}

static sbps_status bound_rows(const sbps_run *run, const control *cv, const row_reach *known,
                              row_bounds **out, sbps_error *err)
{
    return row_bounds_create(run->target, cv, (row_map){run->a, apply_transpose},
                             run->a->kind->white, known, out, err);
}

/* The exact sampler takes the place of what was chosen where it is counted cheaper; that waits beside it. */
static sbps_status weigh_surrogate(sbps_run *run, setup_cache *f, sbps_error *err)
{
    auto_facts facts = run_facts(run);
    run_plan *plan = run->plans;
    if (!f->gathered || !f->reach.norm || !auto_surrogate_may_pay(&facts, plan)) return SBPS_OK;
    sbps_status status = bound_rows(run, f->gathered->control, &f->reach, &run->bounds, err);
    if (status != SBPS_OK) return status;
    if (!auto_take_surrogate(&facts, run->bounds, plan, &run->plans[1])) {
        row_bounds_destroy(run->bounds);
        run->bounds = NULL;
        return SBPS_OK;
    }
    run->spare.parts = run->parts;
    run->spare.tally = run->tally;
    run->parts = NULL;
    memset(&run->tally, 0, sizeof run->tally);
    run_follow(run, plan);
    return plan_check_sampler(plan, run->target, err);
}

/* The rest of the plan, which needs the mode; nothing of it is changed afterwards. */
static sbps_status finish_plan(sbps_run *run, setup_cache *f, sbps_error *err)
{
    sbps_status status;
    run_plan *plan = run->plans, hmc_plan;
    auto_choice choice;
    if (!run->reference->hessian) {
        plan_take_metric(plan, run->a);
        run_follow(run, plan);
        return SBPS_OK;
    }
    status = plan_metric(plan, run->target, run->reference, &run->a, err);
    if (status == SBPS_OK)
        status = plan_finish(plan, run->options, run->reference, run->a, err);
    if (status != SBPS_OK) return status;
    auto_facts facts = run_facts(run);
    status = auto_tune(&facts, plan, &f->measured, &choice, err);
    if (status != SBPS_OK) return status;
    run->parts = choice.parts;
    run->tally = choice.tally;
    if (choice.hmc) {
        status = plan_take_hmc(plan, run->target, run->reference, &run->a, &hmc_plan, err);
        *plan = hmc_plan;
    }
    run_follow(run, plan);
    return status == SBPS_OK ? weigh_surrogate(run, f, err) : status;
}

static sbps_status make_control(sbps_run *run, setup_cache *f, sbps_error *err)
{
    size_t d = run->target->dim;
    const char *name = run->plan->control_variate;
    run->cv_centre = new_doubles(d);
    if (!run->cv_centre) return fail_memory(err);
    memcpy(run->cv_centre, run->reference->w, d * sizeof *run->cv_centre);
    if (!f->gathered || !strcmp(name, "none"))
        return run_control(run, name, run->reference->w, &run->cv, err);
    run->cv = f->gathered->control;
    f->gathered->control = NULL;
    if (strcmp(name, "hessian")) control_reduce(run->target, run->cv);
    return SBPS_OK;
}

sbps_status run_bound_pairs(sbps_run *run, const row_reach *known, sbps_error *err)
{
    row_bounds_destroy(run->bounds);
    run->bounds = NULL;
    if (!run->plan->sampler->pairs) return SBPS_OK;
    return bound_rows(run, run->cv, known, &run->bounds, err);
}

sbps_status run_find_warps(sbps_run *run, sbps_error *err)
{
    free(run->warped);
    run->warped = NULL;
    if (!run->plan->sampler->warped || run->options->paper || !run->reference->hessian)
        return SBPS_OK;
    if (run->reference->gradient_norm < PROFILE_FROM)
        return profile_warps(run->target, run->reference, run->a, &run->warped, err);
    mode *optimum;
    sbps_status status = mode_find(run->target, run->reference->w, &optimum, err);
    if (status != SBPS_OK) return SBPS_OK; /* a reference that is no mode */
    status = profile_warps(run->target, optimum, run->a, &run->warped, err);
    mode_destroy(optimum);
    return status;
}

/* Chains that live on ranks must not be told apart by their rows: where they would be, hmc looks at those of all. */
static sbps_status fall_back_to_hmc(sbps_run *run, sbps_error *err)
{
    run_plan *plan = run->plans, hmc_plan;
    sbps_status status = ranks_measure_error(run, err);
    if (status != SBPS_OK || !(run->rank_bias > run->options->bias_budget)) return status;
    if (!plan_may_take_hmc(run->options, plan)) {
        fail(&run->warning, SBPS_MISMATCH,
             "looking at one rank's rows at a time moves means by up to %.2g sd, more than the "
             "budget of %g: fewer ranks, or --sampler hmc",
             run->rank_bias, run->options->bias_budget);
        return SBPS_OK;
    }
    status = plan_take_hmc(plan, run->target, run->reference, &run->a, &hmc_plan, err);
    if (status != SBPS_OK) return status;
    decimal_print(
        hmc_plan.why, sizeof hmc_plan.why,
        "one rank's rows at a time would move means by up to %.2g sd, more than the budget of "
        "%g: hmc, which looks at those of all",
        run->rank_bias, run->options->bias_budget);
    *plan = hmc_plan;
    control_destroy(run->cv);
    run->cv = NULL;
    run->rank_error = run->rank_bias = NAN;
    run_follow(run, plan);
    return SBPS_OK;
}

/* Up to all that is asked of all rows. */
static sbps_status see_rows(sbps_run *run, setup_cache *f, sbps_error *err)
{
    sbps_status status;
    if ((status = setup_cache_open(run, f, err)) != SBPS_OK) return status;
    if ((status = find_reference(run, f, err)) != SBPS_OK) return status;
    if (run->reference->unusable.status != SBPS_OK && !run->options->paper) {
        *err = run->reference->unusable;
        return err->status;
    }
    if ((status = run_check_units(run, err)) != SBPS_OK) return status;
    if ((status = factor_hessian(run, err)) != SBPS_OK) return status;
    if ((status = finish_plan(run, f, err)) != SBPS_OK) return status;
    bool gathered = f->gathered && f->reach.norm;
    if ((status = make_control(run, f, err)) != SBPS_OK) return status;
    if ((status = groups_find_influential(run, err)) != SBPS_OK) return status;
    if (!run->bounds) status = run_bound_pairs(run, gathered ? &f->reach : NULL, err);
    if (status == SBPS_OK) status = fall_back_to_hmc(run, err);
    if (status != SBPS_OK) return status;
    return run_find_warps(run, err);
}

rows attach_row_workers(const sbps_table *table, const sbps_options *options,
                        struct row_workers *workers)
{
    rows with = *table->data;
    size_t threads = options->threads == SIZE_AUTO ? processors() : options->threads;
    if (options->function.rows && !options->function.any_thread) threads = 1;
    *workers = (struct row_workers){
        .threads = (unsigned)threads, .shown = table->visited, .stopped = &table->stopped};
    with.workers = workers;
    return with;
}

sbps_status run_set_up(sbps_run *run, sbps_error *err)
{
    sbps_status status;
    setup_cache cache = {0};
    if ((status = restart_begin(run, err)) != SBPS_OK) return status;
    run->data = attach_row_workers(run->table, run->options, &run->workers);
    if (run->alone) {
        run->data.partition = run->whole;
        partition_set_origin(&run->data);
    }
    size_t threads = run->workers.threads;
    if (threads > run->options->chains) threads = run->options->chains; /* or fewer, of ranks */
    if ((status = make_target(run, err)) != SBPS_OK) return status;
    if ((status = name_parameters(run, err)) != SBPS_OK) return status;
    if ((status = choose_watched(run, err)) != SBPS_OK) return status;
    status = see_rows(run, &cache, err);
    setup_cache_close(&cache);
    run->prefers_nuts = !run->target->model->transformation.apply &&
                        crossed_prefers_nuts(run->options, &run->data);
    if (status != SBPS_OK || run->prefers_nuts) return status;
    if ((status = chains_create(run, err)) != SBPS_OK) return status;
    if ((status = thread_pool_create(threads, &run->pool, err)) != SBPS_OK) return status;
    run->workers.stopped = NULL; /* chains are told otherwise */
    chains_start(run);
    warmup_begin(run);
    run->passes_setup =
        (double)atomic_load(&run->workers.visited) / (double)run->data.local_rows;
    return files_open(run, err);
}
