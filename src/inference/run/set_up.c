/* Set-up of a run, in this order:
 *
 *   restart_begin      adopts chains and sampler of a checkpoint of another number of ranks
 *   make_target        the plan as far as it needs no mode; the posterior with its priors
 *   find_reference     the mode, a point near it, or the point of --start
 *   finish_plan        metric, batch size, strata; comparison with hmc and surrogate
 *   make_control       the control variate at the reference
 *   run_bound_pairs    bounds of the rows, for exact samplers
 *   fall_back_to_hmc   on several ranks, if the sampler would be too biased there
 *   chains_create      memory and starting points of the chains
 *   files_open         last, since the checkpoint of --resume replaces the chains' memory
 *
 * On a long table a pass through the rows costs more than all the rest. What needs all rows
 * (influences, norms, U at starting points) is therefore computed in the passes that the search
 * for the mode makes anyway: see setup_cache. */
#include "inference/run/set_up.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/crossed_method.h"
#include "inference/options/start_point.h"
#include "inference/options/target.h"
#include "inference/run/chain.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/group_mode.h"
#include "inference/run/influential.h"
#include "inference/run/run.h"
#include "inference/run/run_files.h"
#include "inference/run/warmup.h"
#include "linalg/cholesky.h"
#include "posterior/full/prior_draw.h"
#include "posterior/mode/profile.h"
#include "posterior/sweep/sweep.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- units of parameters ----
 *
 * The ESS and R-hat of squares need fourth powers of distances from the mode, which overflow or
 * underflow a double if a posterior sd is beyond 1e+-77. */

#define UNIT_MAX 1e72
#define UNIT_MIN 1e-72
/* range of a column's sd beyond which it is named as the cause */
#define COLUMN_MAX 1e30
#define COLUMN_MIN 1e-30

/* True if the scale of the coordinate is determined by its prior: more than half of the
 * curvature 1/unit^2 of the posterior is the prior's. */
static bool priors_decide(const posterior *u, size_t j, double unit)
{
    return prior_curvature(&u->priors[j], u->scale[j], 0.0) * unit * unit < -0.5;
}

/* SBPS_BAD_DATA with the cause of the scale and what to do. */
static sbps_status explain_unit(const posterior *u, size_t j, double unit, sbps_error *err)
{
    static const char *const why = "outside the range in which its variance can be estimated";
    const rows *data = u->data;
    size_t column = posterior_named_column(u, j);
    char name[81];
    posterior_name(u, j, sizeof name, name);
    double spread = column < data->d ? data->table.sd[column] : 0.0;
    if (spread > 0.0 && (spread < COLUMN_MIN || spread > COLUMN_MAX))
        return fail(err, SBPS_BAD_DATA,
                    "column '%s' has mean %.3g and sd %.3g, so that its coefficient is of the "
                    "order of %.1g, %s: divide the column by a power of ten, take its "
                    "logarithm, or use --standardize",
                    show_name(data->table.names[column]).text, data->table.mean[column], spread,
                    unit, why);
    if (!u->model->facts.scales_with_target || priors_decide(u, j, unit))
        return fail(
            err, SBPS_BAD_DATA,
            "the parameter '%s' is of the order of %.1g, %s: give it a prior of another "
            "scale",
            show_name(name).text, unit, why);
    return fail(err, SBPS_BAD_DATA,
                "the parameter '%s' is of the order of %.1g, %s: divide the target%s%s%s by a "
                "power of ten",
                show_name(name).text, unit, why, data->table.target ? " '" : "",
                data->table.target ? show_name(data->table.target).text : "",
                data->table.target ? "'" : "");
}

/* Refuses parameters so large or small that their estimates would overflow or underflow. */
static sbps_status run_check_units(const sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    const double *hessian = run->reference->hessian;
    for (size_t j = 0; hessian && j < u->dim; j++) {
        double unit = 1.0 / sqrt(hessian[j * u->dim + j]);
        if (unit < UNIT_MIN || unit > UNIT_MAX) return explain_unit(u, j, unit, err);
    }
    return SBPS_OK;
}

#define GATHER_DIM                                                                             \
    ((size_t)2000) /* coordinates above which the matrices take most of the memory */
#define STEEP_MIN                                                                              \
    2.0 /* U relative to its normal at the starts, above which the mode is refined */
/* Without a Hessian: most effects with running estimates, least draws per chain, and numbers
 * stored per chain. */
#define WATCHED_EFFECTS ((size_t)16)
#define WIDE_DRAWS      250.0
#define WIDE_NUMBERS    1e7
#define SWEEP_NUMBERS   2e6 /* for sweeps, beside whose cost clearing more memory would count */

/* Creates the names of coordinates and reported parameters, and their scales. */
static sbps_status name_parameters(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    run->report.value = calloc(u->dim, sizeof *run->report.value);
    if (!run->report.value) return fail_memory(err);
    for (size_t j = 0; j < u->dim; j++) {
        model_derived of;
        bool watched = posterior_derived(u, j, &of) && of.watched;
        run->report.value[j] = scale_function(watched ? SCALE_PLAIN : u->scale[j]);
    }
    sbps_status status = target_names(u, &run->report.coordinates, err);
    return status == SBPS_OK ? target_reported_names(u, &run->report.names, err) : status;
}

/* In a model with thousands of effects only some of them have running estimates, and fewer
 * draws are stored. */
static sbps_status choose_watched(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    size_t others = u->dim - derived_parameters(u), every = others / WATCHED_EFFECTS + 1;
    run->report.watched_count = u->dim;
    if (!u->model->transformation.apply || every == 1) return SBPS_OK;
    double numbers = run->plans->sampler->conditional ? SWEEP_NUMBERS : WIDE_NUMBERS;
    double kept = fmax(numbers / (double)u->dim, WIDE_DRAWS);
    if (!option_given(run->options, "draws") && kept < (double)run->options->draws)
        run->options->draws = (size_t)kept;
    run->report.watched = calloc(u->dim, sizeof *run->report.watched);
    if (!run->report.watched) return fail_memory(err);
    run->report.watched_count = 0;
    for (size_t j = 0, effect = 0; j < u->dim; j++)
        if (!derived_is_effect(u, j) || effect++ % every == 0)
            run->report.watched[run->report.watched_count++] = j;
    return SBPS_OK;
}

/* Plans the run, as far as possible without a mode, and creates the posterior with its priors.
 */
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

/* What the search for the reference point collects about the rows. */
typedef struct {
    auto_influences measured; /* under each candidate control variate */
    row_reach reach;          /* for exact samplers; norm NULL: not needed */
    row_cache *gathered;      /* NULL: nothing is collected */
} setup_cache;

/* make_control may have moved the control variate out before. */
static void setup_cache_close(setup_cache *f)
{
    row_cache_close(f->gathered);
    auto_influences_close(&f->measured);
    free(f->reach.norm);
    free(f->reach.third_sum);
    free(f->reach.factor);
}

/* Allocates the norms of the rows for exact samplers. */
static sbps_status reach_open(const posterior *u, setup_cache *f, sbps_error *err)
{
    f->reach.norm = malloc(u->data->local_rows * sizeof *f->reach.norm);
    f->reach.third_sum = new_doubles(u->dim);
    f->reach.factor = new_doubles(u->dim * u->dim);
    f->measured.to.reach = &f->reach;
    return f->reach.norm && f->reach.third_sum && f->reach.factor ? SBPS_OK : fail_memory(err);
}

/* Allocates what this plan needs. Close it also after a failure. */
static sbps_status setup_cache_open(sbps_run *run, setup_cache *f, sbps_error *err)
{
    const run_plan *plan = run->plans;
    bool automatic = auto_applies(run->options, plan);
    bool with_control = strcmp(plan->control_variate, "none");
    sbps_status status =
        auto_influences_open(run->options, plan, run->target, &f->measured, err);
    if (status != SBPS_OK) return status;
    run->geometry.steepness = INFINITY;
    run->influential = (row_effects){EFFECT_MIN, 0, EFFECTS_MAX, run->influential_rows};
    f->measured.to.effects = &run->influential;
    f->measured.to.steepness = &run->geometry.steepness;
    f->measured.to.spread = run->options->spread;
    bool small = run->target->dim <= GATHER_DIM;
    /* the sampler needs U at the starting points of chains, which is computed on the way */
    bool needs_starts = plan->sampler->pairs || plan->sampler->independent;
    if (!run->target->model->predictor || (plan->sampler->full && !needs_starts) ||
        !(automatic || with_control || needs_starts) || !small)
        return SBPS_OK;
    bool influence = (automatic || needs_starts) && influence_applies(run->target) &&
                     !run->data.storage.recipe;
    bool reach =
        influence_has_reach(run->target) && !run->ranks.among &&
        (plan->sampler->pairs || auto_may_take_surrogate(run->options, plan, run->target));
    if (reach && (status = reach_open(run->target, f, err)) != SBPS_OK) return status;
    return row_cache_open(run->target, influence ? &f->measured.to : NULL, &f->gathered, err);
}

/* Discards the cached numbers unless they were computed at the reference point itself: the last
 * step of the search may have moved on after the pass that collected them. */
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

/* Refines a reference point near the mode if U is not nearly quadratic there. The cached
 * numbers belong to the old point. */
static sbps_status refine_mode(sbps_run *run, setup_cache *f, sbps_error *err)
{
    mode *near = run->reference;
    if (!f->measured.known || !(run->geometry.steepness > STEEP_MIN)) return SBPS_OK;
    sbps_status status = mode_find(run->target, near->w, &run->reference, err);
    mode_destroy(near);
    row_cache_close(f->gathered);
    f->gathered = NULL;
    f->measured.known = false;
    return status;
}

/* Finds the reference point: the mode, a point near it, or the one of --start. */
static sbps_status find_reference(sbps_run *run, setup_cache *f, sbps_error *err)
{
    start_point start;
    sbps_status status =
        target_start(run->options, run->target, run->report.coordinates, &start, err);
    run->geometry.start_hash = start.hash;
    /* segments need not begin at the mode itself */
    bool rough = !run->plans->sampler->full && !start.hash;
    run->geometry.start_metric = start.precision;
    if (status == SBPS_OK && run->plans->sampler->conditional) {
        status = sweep_open(run->target, &run->noise.sweep, err);
        if (status == SBPS_OK)
            status = sweep_reference(run->target, run->noise.sweep, start.hash != 0,
                                     &run->geometry.a, &run->reference, err);
        start_release(&start);
        return status;
    }
    if (status == SBPS_OK && run->target->model->transformation.apply) {
        status =
            wide_find(run->target, start.hash != 0, &run->geometry.a, &run->reference, err);
        start_release(&start);
        return status;
    }
    if (status == SBPS_OK) status = groups_ready(run->target, start.hash != 0, err);
    if (status == SBPS_OK)
        status =
            start.hash ? mode_take(run->target, start.w, start.precision, &run->reference, err)
            : run->target->model->row_model
                ? groups_near(run->target, start.w, rough, &run->reference, err)
                : mode_near(run->target, start.w, f->gathered, false, &run->reference, err);
    start_release(&start);
    if (status != SBPS_OK) return status;
    check_setup_cache(run, f);
    if ((status = refine_mode(run, f, err)) != SBPS_OK) return status;
    const mode_request how = {.method = run->geometry.start_hash ? NULL : "auto"};
    return groups_choose_nodes(run->target, &how, rough, &run->reference, &run->geometry.rule,
                               err);
}

/* Cholesky factor of the Hessian at the reference; none for matrix-free models. */
static sbps_status factor_hessian(sbps_run *run, sbps_error *err)
{
    size_t d = run->target->dim;
    if (!run->reference->hessian) return SBPS_OK;
    run->geometry.factor = new_doubles(d * d);
    if (!run->geometry.factor) return fail_memory(err);
    memcpy(run->geometry.factor, run->reference->hessian, d * d * sizeof *run->geometry.factor);
    if (cholesky(d, run->geometry.factor)) return SBPS_OK;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

sbps_status run_control(const sbps_run *run, const char *name, const double *w, control **out,
                        sbps_error *err)
{
    return target_control(run->target, run->reference, name, w, out, err);
}

auto_facts run_facts(const sbps_run *run)
{
    return (auto_facts){run->options, run->target, run->reference, run->geometry.factor,
                        run->geometry.a};
}

void run_use_plan(sbps_run *run, const run_plan *plan)
{
    run->plan = plan;
    run->tuned = (run_tuning){plan->minibatch, plan->batch, plan->round_events};
}

/* The function of a row_map, which knows the metric as `self` only. */
static void apply_transpose(const void *self, const double *x, double *out)
{
    const metric *a = self;
    a->kind->transpose(a, x, out);
}

/* Creates the row bounds for a control variate. */
static sbps_status bound_rows(const sbps_run *run, const control *cv, const row_reach *known,
                              row_bounds **out, sbps_error *err)
{
    return row_bounds_create(run->target, cv, (row_map){run->geometry.a, apply_transpose},
                             run->geometry.a->kind->white, known, out, err);
}

/* Replaces the plan by `surrogate` if that is cheaper; the former plan becomes plans[1]. */
static sbps_status compare_surrogate(sbps_run *run, setup_cache *f, sbps_error *err)
{
    auto_facts facts = run_facts(run);
    run_plan *plan = run->plans;
    if (!f->gathered || !f->reach.norm || !auto_surrogate_may_pay(&facts, plan)) return SBPS_OK;
    sbps_status status =
        bound_rows(run, f->gathered->control, &f->reach, &run->noise.bounds, err);
    if (status != SBPS_OK) return status;
    if (!auto_take_surrogate(&facts, run->noise.bounds, plan, &run->plans[1])) {
        row_bounds_destroy(run->noise.bounds);
        run->noise.bounds = NULL;
        return SBPS_OK;
    }
    run->noise.spare.parts = run->noise.parts;
    run->noise.spare.tally = run->noise.tally;
    run->noise.parts = NULL;
    memset(&run->noise.tally, 0, sizeof run->noise.tally);
    run_use_plan(run, plan);
    return plan_check_sampler(plan, run->target, err);
}

/* Completes the plan, which needs the mode. */
static sbps_status finish_plan(sbps_run *run, setup_cache *f, sbps_error *err)
{
    sbps_status status;
    run_plan *plan = run->plans, hmc_plan;
    auto_choice choice;
    if (!run->reference->hessian) {
        plan_take_metric(plan, run->geometry.a);
        run_use_plan(run, plan);
        return SBPS_OK;
    }
    status = plan_metric(plan, run->target, run->reference, &run->geometry.a, err);
    if (status == SBPS_OK)
        status = plan_finish(plan, run->options, run->reference, run->geometry.a, err);
    if (status != SBPS_OK) return status;
    auto_facts facts = run_facts(run); /* after plan_metric, which made run->geometry.a */
    status = auto_tune(&facts, plan, &f->measured, &choice, err);
    if (status != SBPS_OK) return status;
    run->noise.parts = choice.parts;
    run->noise.tally = choice.tally;
    if (choice.hmc) {
        status =
            plan_take_hmc(plan, run->target, run->reference, &run->geometry.a, &hmc_plan, err);
        *plan = hmc_plan;
    }
    run_use_plan(run, plan);
    return status == SBPS_OK ? compare_surrogate(run, f, err) : status;
}

/* Creates the control variate, from the cached numbers if possible. These are of order
 * "hessian"; control_reduce drops what "gradient" does not need. */
static sbps_status make_control(sbps_run *run, setup_cache *f, sbps_error *err)
{
    size_t d = run->target->dim;
    const char *name = run->plan->control_variate;
    run->noise.cv_centre = new_doubles(d);
    if (!run->noise.cv_centre) return fail_memory(err);
    memcpy(run->noise.cv_centre, run->reference->w, d * sizeof *run->noise.cv_centre);
    control **made = &f->measured.made[auto_order(name)];
    if (*made) {
        run->noise.cv = *made;
        *made = NULL;
        return SBPS_OK;
    }
    if (!f->gathered || !strcmp(name, "none"))
        return run_control(run, name, run->reference->w, &run->noise.cv, err);
    run->noise.cv = f->gathered->control;
    f->gathered->control = NULL;
    if (strcmp(name, "hessian")) control_reduce(run->target, run->noise.cv);
    return SBPS_OK;
}

sbps_status run_bound_pairs(sbps_run *run, const row_reach *known, sbps_error *err)
{
    row_bounds_destroy(run->noise.bounds);
    run->noise.bounds = NULL;
    if (!run->plan->sampler->pairs) return SBPS_OK;
    return bound_rows(run, run->noise.cv, known, &run->noise.bounds, err);
}

sbps_status run_find_warps(sbps_run *run, sbps_error *err)
{
    free(run->geometry.warped);
    run->geometry.warped = NULL;
    if (!run->plan->sampler->warped || run->options->paper || !run->reference->hessian)
        return SBPS_OK;
    if (run->reference->gradient_norm < PROFILE_FROM)
        return profile_warps(run->target, run->reference, run->geometry.a,
                             &run->geometry.warped, err);
    mode *optimum;
    sbps_status status = mode_find(run->target, run->reference->w, &optimum, err);
    if (status != SBPS_OK) return SBPS_OK; /* the point of --start is not near a mode */
    status = profile_warps(run->target, optimum, run->geometry.a, &run->geometry.warped, err);
    mode_destroy(optimum);
    return status;
}

/* Replaces the plan by hmc if the sampler would be biased by seeing one rank's rows at a time.
 */
static sbps_status fall_back_to_hmc(sbps_run *run, sbps_error *err)
{
    run_plan *plan = run->plans, hmc_plan;
    sbps_status status = ranks_measure_error(run, err);
    if (status != SBPS_OK || !(run->ranks.bias > run->options->bias_budget)) return status;
    if (!plan_may_take_hmc(run->options, plan)) {
        fail(&run->warning, SBPS_MISMATCH,
             "with this many ranks posterior means may be biased by up to %.2g sd, more than "
             "--bias-budget %g: use fewer ranks, or --sampler hmc",
             run->ranks.bias, run->options->bias_budget);
        return SBPS_OK;
    }
    status = plan_take_hmc(plan, run->target, run->reference, &run->geometry.a, &hmc_plan, err);
    if (status != SBPS_OK) return status;
    decimal_print(hmc_plan.why, sizeof hmc_plan.why,
                  "hmc: with the default sampler on this many ranks means may be biased by up "
                  "to %.2g sd, more than --bias-budget %g",
                  run->ranks.bias, run->options->bias_budget);
    *plan = hmc_plan;
    control_destroy(run->noise.cv);
    run->noise.cv = NULL;
    run->ranks.error = run->ranks.bias = NAN;
    run_use_plan(run, plan);
    return SBPS_OK;
}

/* With --prior-only: the origin instead of a mode, and no metric. */
static sbps_status take_origin(sbps_run *run, sbps_error *err)
{
    sbps_status status = prior_draw_check(run->target, err);
    mode *origin = run->reference = calloc(1, sizeof *origin);
    run->noise.cv_centre = new_doubles(run->target->dim);
    if (status != SBPS_OK) return status;
    if (!origin || !run->noise.cv_centre || !(origin->w = new_doubles(run->target->dim)))
        return fail_memory(err);
    origin->method = "none";
    run->geometry.steepness = INFINITY;
    run->influential = (row_effects){EFFECT_MIN, 0, EFFECTS_MAX, run->influential_rows};
    status = metric_create(metric_find("none"), run->target->dim, NULL, &run->geometry.a, err);
    if (status != SBPS_OK) return status;
    plan_take_metric(run->plans, run->geometry.a);
    run_use_plan(run, run->plans);
    return SBPS_OK;
}

/* All steps of set-up that read the rows. */
static sbps_status read_rows(sbps_run *run, setup_cache *f, sbps_error *err)
{
    sbps_status status;
    if (run->options->prior_only) return take_origin(run, err);
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
    if (!run->noise.bounds) status = run_bound_pairs(run, gathered ? &f->reach : NULL, err);
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
    if (run->ranks.alone) {
        run->data.partition = run->ranks.partition;
        partition_set_origin(&run->data);
    }
    size_t threads = run->workers.threads;
    if (threads > run->options->chains)
        threads = run->options->chains; /* chains of this process may be fewer */
    if ((status = make_target(run, err)) != SBPS_OK) return status;
    if ((status = name_parameters(run, err)) != SBPS_OK) return status;
    if ((status = choose_watched(run, err)) != SBPS_OK) return status;
    status = read_rows(run, &cache, err);
    setup_cache_close(&cache);
    run->prefers_nuts =
        !run->target->model->transformation.apply && !run->options->prior_only &&
        crossed_prefers_nuts(run->options, &run->data,
                             run->plan && !strcmp(run->plan->sampler->name, "hmc"));
    if (status != SBPS_OK || run->prefers_nuts) return status;
    if ((status = chains_create(run, err)) != SBPS_OK) return status;
    if ((status = thread_pool_create(threads, &run->pool, err)) != SBPS_OK) return status;
    run->workers.stopped = NULL; /* chains check run->interrupt instead */
    chains_start(run);
    warmup_begin(run);
    run->passes_setup =
        (double)atomic_load(&run->workers.visited) / (double)run->data.local_rows;
    return files_open(run, err);
}
