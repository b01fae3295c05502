/* Decisions that the options leave open: model, sampler, metric, mini-batches, settings.
 * `--paper` selects another row of default settings; options given by the user override both.
 *
 * plan_make decides what options and table determine, before there is a mode. What needs the
 * mode follows in the order plan_metric, plan_finish, auto_tune (autotune.c). What cannot work
 * is refused here, with the name of the option and an alternative, before the search for the
 * mode. */
#include "inference/autotune/run_plan.h"
#include "core/kind_tables.h"
#include "core/printable.h"
#include "inference/options/coordinate_priors.h"
#include "inference/options/crossed_method.h"
#include "inference/options/family_choice.h"
#include "linalg/real.h"
#include "model/mixed/mixed.h"
#include "sampler/core/prior_sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_DEFAULT    ((size_t)104) /* thirteen cache lines of doubles */
#define WINDOW_FROM      100.0 /* table rows per batch row from which windows are used */
#define BAND_FIRST       5.0   /* width of the band before warm-up chooses it */
#define DT_MIN           1e-6  /* in units of the posterior's scale */
#define LOWRANK_FROM     100.0 /* parameters; below, every metric is cheap */
#define LOWRANK_WORK     0.5   /* largest work relative to a dense metric */
#define PAPER_BATCH      ((size_t)100)
#define GAUSSIAN_REFRESH 0.5 /* per radian: best of 0.1..1 on one table, d = 20 */

static const sampler_settings settings_default = {.band = {
                                                      .width = BAND_FIRST,
                                                      .horizon = 1.0,
                                                      .floor = 0.1,
                                                      .chord = NAN,
                                                      .pool = 3.0,
                                                      .learning_rate = 0.01,
                                                      .lack_of_fit = true,
                                                  }};

static const sampler_settings settings_paper = {.band = {
                                                    .width = 3.0,
                                                    .horizon = INFINITY,
                                                    .chord = NAN, /* by --dt */
                                                    .learning_rate = 0.01,
                                                    .keep_variance = true,
                                                }};

/* Fails, suggesting the nearest name of a registry. */
static sbps_status unknown(const char *option, const char *name, const void *kinds,
                           sbps_error *err)
{
    const char *names[KINDS_MAX];
    size_t count = kind_names(kinds, names);
    return fail(err, SBPS_BAD_ARG, "--%s: there is no '%s'%s", option, name,
                did_you_mean(";", name, names, count).text);
}

/* Finds the model named by the options. */
static sbps_status choose_model(const sbps_options *o, run_plan *plan, sbps_error *err)
{
    if (!o->model || !*o->model)
        return fail(err, SBPS_BAD_ARG, "--model is missing; 'sbps list models' lists them");
    plan->model = options_model(o);
    if (!plan->model) return unknown("model", o->model, model_kinds, err);
    if (family_has_trials(o) && plan->model->support != SUPPORT_PROPORTIONS)
        return fail(err, SBPS_BAD_ARG, "%s: model %s has no number of trials; binomial has",
                    o->trials && *o->trials ? "--trials" : "the formula's trials", o->model);
    return SBPS_OK;
}

/* Checks that the model can use the table. A density without a table has a table of one row. */
static sbps_status check_table(const char *name, const model_kind *model, const rows *data,
                               sbps_error *err)
{
    bool no_rows = model->facts.no_rows;
    if (no_rows && data->local_rows > 1)
        return fail(err, SBPS_BAD_ARG, "model %s is a density without data and takes no table",
                    name);
    if (!no_rows && data->local_rows == 1)
        return fail(err, SBPS_BAD_ARG, "model %s needs a table", name);
    if (!model->facts.any_storage && (data->storage.x_float || data->storage.start))
        return fail(err, SBPS_BAD_ARG,
                    "--storage: model %s needs rows of doubles, but this table is stored as %s",
                    name, data->storage.kind->name);
    if (!model->facts.regression && data->offset)
        return fail(err, SBPS_BAD_ARG,
                    "--offset: model %s has no linear predictor to add it to", name);
    return SBPS_OK;
}

/* Chooses the model; with groups, the mixed model built on it. */
static sbps_status model_of(const sbps_options *o, const rows *data, bool run,
                            const model_kind **out, sbps_error *err)
{
    run_plan plan = {0};
    sbps_status status = choose_model(o, &plan, err);
    *out = plan.model;
    if (status == SBPS_OK && data->member_rows)
        status = groups_check_levels(plan.model, data, err);
    if (status == SBPS_OK && data->member_rows &&
        !(*out = mixed_of(data, plan.model, crossed_joint(o, data, run))))
        return fail(err, SBPS_BAD_ARG, "--model: %s has no linear predictor for group effects",
                    plan.model->name);
    return status == SBPS_OK ? check_table(o->model, *out, data, err) : status;
}

sbps_status plan_model(const sbps_options *o, const rows *data, const model_kind **out,
                       sbps_error *err)
{
    return model_of(o, data, false, out, err);
}

/* Refuses what --prior-only has no use for: it has no path, no mode and nothing to resume. */
static sbps_status check_prior_only(const sbps_options *o, const rows *data,
                                    const run_plan *plan, sbps_error *err)
{
    static const char *const useless[] = {"sampler",  "start", "checkpoint", "resume",
                                          "skeleton", "trace", "paper",      "metric"};
    if (plan->model->facts.no_rows)
        return fail(err, SBPS_BAD_ARG, "--prior-only: model %s is a density and has no prior",
                    o->model);
    if (data->partition)
        return fail(err, SBPS_BAD_ARG, "--prior-only: run it in one process, without ranks");
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++)
        if (option_given(o, useless[i]))
            return fail(err, SBPS_BAD_ARG,
                        "--%s has no use with --prior-only, whose draws are independent: leave "
                        "it out",
                        useless[i]);
    return SBPS_OK;
}

/* Chooses the sampler: hmc for shrinkage priors, nuts or hmc if all effects are sampled,
 * boomerang for groups, else sbps. */
static sbps_status choose_sampler(const sbps_options *o, const rows *data, run_plan *plan,
                                  sbps_error *err)
{
    /* groups are sums of many rows and nearly normal: few bounces along the orbits of the
     * normal */
    bool shrinks = shrinkage_requested(o);
    const char *usual = shrinks                                                      ? "hmc"
                        : plan->model->transformation.apply && crossed_nuts(o, data) ? "nuts"
                        : plan->model->transformation.apply                          ? "hmc"
                        : plan->model->row_model && !o->paper ? "boomerang"
                                                              : "sbps";
    const char *name = is_auto(o->sampler) ? usual : o->sampler;
    if (o->prior_only) {
        plan->sampler = &sampler_prior;
        return check_prior_only(o, data, plan, err);
    }
    plan->sampler = sampler_find(name);
    if (!plan->sampler) return unknown("sampler", name, sampler_kinds, err);
    if (shrinks && strcmp(name, "hmc"))
        return fail(err, SBPS_BAD_ARG, "--sampler: shrinkage priors need hmc, not %s", name);
    bool joint = !strcmp(name, "hmc") || !strcmp(name, "nuts") || plan->sampler->conditional;
    if (!plan->model->transformation.apply || joint) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "--sampler: all group effects are sampled jointly here, which %s cannot do: use hmc, "
        "nuts or sweep, or --crossed integrate if all factors but the largest have at most %zu "
        "effects",
        name, EXPLICIT_MAX);
}

/* Default control variate. For regressions the gradient at the mode costs one number per row
 * and removes most of the noise; models without a predictor would evaluate every slope twice.
 */
static const char *usual_control_variate(const sbps_options *o, const run_plan *plan)
{
    if (plan->sampler->control_variate) return plan->sampler->control_variate;
    if (o->paper || plan->sampler->full || !plan->model->facts.regression) return "none";
    return "gradient";
}

/* Refuses options for which the sampler has no exact bounds. */
static sbps_status check_bounded(const sbps_options *o, const run_plan *plan, sbps_error *err)
{
    const sampler_kind *kind = plan->sampler;
    if (strcmp(plan->control_variate, kind->control_variate))
        return fail(err, SBPS_BAD_ARG,
                    "--control-variate: %s requires '%s'; sbps accepts others", kind->name,
                    kind->control_variate);
    if (o->gradient_noise > 0.0)
        return fail(err, SBPS_BAD_ARG,
                    "--gradient-noise: %s needs bounded gradients, and added noise is "
                    "unbounded; use sbps",
                    kind->name);
    return SBPS_OK;
}

/* Chooses the metric and the control variate as far as options and sampler determine them. */
static sbps_status choose_metric(const sbps_options *o, run_plan *plan, sbps_error *err)
{
    const char *usual = plan->sampler->metric ? plan->sampler->metric
                        : o->paper            ? "none"
                                              : "dense";
    const char *name = is_auto(o->metric) ? usual : o->metric;
    plan->metric = metric_find(name);
    if (plan->model->transformation.apply && !is_auto(o->metric))
        return fail(err, SBPS_BAD_ARG,
                    "--metric: only auto is available when all group effects are sampled "
                    "jointly; --crossed integrate accepts others");
    if (!plan->metric) return fail(err, SBPS_BAD_ARG, "--metric: there is no '%s'", name);
    bool uses_segments = plan->sampler->curve && !plan->sampler->full && !plan->sampler->metric;
    plan->auto_metric = is_auto(o->metric) && uses_segments && !o->paper;
    if (plan->metric->learn && !plan->sampler->adapts_metric)
        return fail(err, SBPS_BAD_ARG,
                    "--metric: %s cannot adapt a metric, sbps and psbps can; %s accepts none, "
                    "diagonal or dense",
                    plan->sampler->name, plan->sampler->name);
    plan->control_variate = usual_control_variate(o, plan);
    if (!is_auto(o->control_variate)) plan->control_variate = o->control_variate;
    return plan->sampler->bounded ? check_bounded(o, plan, err) : SBPS_OK;
}

/* Refuses a batch size that table or sampler do not allow. */
static sbps_status check_batch(size_t n, const rows *data, const sampler_kind *kind,
                               sbps_error *err)
{
    if (n > min_local_rows(data) && n != total_rows(data))
        return fail(err, SBPS_BAD_ARG, "--batch-size: %zu is more than the %s's %zu rows", n,
                    data->partition ? "smallest rank" : "table", min_local_rows(data));
    if (kind->full && n < total_rows(data))
        return fail(err, SBPS_BAD_ARG,
                    "--batch-size: %s uses every row; sbps uses mini-batches", kind->name);
    if (kind->chooses_row && n != 1)
        return fail(
            err, SBPS_BAD_ARG,
            "--batch-size: %s uses one row at a time; sbps and lipsbps use mini-batches",
            kind->name);
    if (kind->curve && n == 1 && data->local_rows > 1)
        return fail(err, SBPS_BAD_ARG,
                    "--batch-size: %s needs at least 2 rows, to estimate the variance; lipsbps "
                    "accepts 1",
                    kind->name);
    return SBPS_OK;
}

size_t plan_batch_max(const rows *data, size_t n)
{
    size_t all = min_local_rows(data);
    if (n <= all / 2) return n;
    return data->partition ? all / 2 : all; /* all rows would need the other ranks */
}

/* Windows read memory in sequence, but eq. (10) holds for them only on average over shuffles:
 * with few windows in the table random rows are used. For single rows there is no difference.
 */
const batch_kind *plan_minibatch(const sbps_options *o, const rows *data, const run_plan *plan,
                                 size_t n)
{
    bool uses_segments = !o->paper && plan->sampler->curve;
    if (n == total_rows(data)) return &batch_full;
    if (n == 1) return &batch_window;
    if (!is_auto(o->minibatch) && strcmp(o->minibatch, "strata"))
        return strcmp(o->minibatch, "window") ? &batch_random : &batch_window;
    if (uses_segments && (data->local_rows > PLAN_LIST_ROWS || data->partition))
        return &batch_window;
    return o->paper || (double)data->local_rows / (double)n < WINDOW_FROM ? &batch_random
                                                                          : &batch_window;
}

/* Chooses the initial batch size and kind of mini-batches. */
static sbps_status choose_batch(const sbps_options *o, const rows *data, run_plan *plan,
                                sbps_error *err)
{
    size_t n = o->batch_size, usual = o->paper ? PAPER_BATCH : BATCH_DEFAULT;
    if (plan->sampler->batch) usual = plan->sampler->batch;
    if (n == SIZE_AUTO)
        n = plan->sampler->full || data->local_rows < 2 * usual ? total_rows(data) : usual;
    sbps_status status = check_batch(n, data, plan->sampler, err);
    if (status != SBPS_OK) return status;
    plan->batch = n;
    plan->minibatch = plan_minibatch(o, data, plan, n);
    return SBPS_OK;
}

/* The value of --slope-prior, whose words the option table has checked. */
static slope_source slope_source_named(const char *name)
{
    if (!strcmp(name, "learned")) return SLOPE_LEARNED;
    return strcmp(name, "wide") ? SLOPE_HESSIAN : SLOPE_WIDE;
}

/* Copies the sampler's settings from the options over the defaults. */
static void choose_settings(const sbps_options *o, run_plan *plan)
{
    sampler_settings *s = &plan->settings;
    band_settings *b = &s->band;
    *s = o->paper ? settings_paper : settings_default;
    plan->choose_band = isnan(o->band) && !o->paper;
    if (!isnan(o->band)) b->width = o->band;
    if (!isnan(o->horizon)) b->horizon = o->horizon;
    if (!isnan(o->dt)) b->chord = o->dt;
    b->slope_repair = o->slope_repair;
    b->process = !strcmp(o->regression, "gp");
    b->weight_decay = !strcmp(o->weight_decay, "on");
    b->auxiliary = o->auxiliary;
    b->auxiliary_always = !strcmp(o->auxiliary_when, "always");
    b->slope_prior = slope_source_named(o->slope_prior);
    b->rejected_evidence = !strcmp(o->slope_evidence, "rejected");
    b->fresh_bounce = !strcmp(o->bounce_batch, "fresh");
    s->step_size = o->step_size;
    s->step_decay = o->step_decay;
    s->metric_beta = o->metric_beta;
    s->metric_eps = o->metric_eps;
    s->adapt_forever = o->adapt_forever;
    s->gradient_noise = o->gradient_noise;
    if (!is_auto(o->lack_of_fit)) b->lack_of_fit = !strcmp(o->lack_of_fit, "on");
    if (!is_auto(o->pool_variance))
        b->pool = strcmp(o->pool_variance, "on") ? 0.0 : settings_default.band.pool;
}

/* Length of a round: rounds of full-data trajectories last as long as those of mini-batch
 * segments. */
#define ROUND_ROWS     1e7          /* rows that a round evaluates, at most */
#define ROUND_MIN      ((size_t)16) /* events */
#define GROUP_NODES    10.0         /* quadrature points per effect */
#define GROUP_COST_MAX 100.0        /* at most */
#define NODE_WORK                                                                              \
    4.0 /* cost of a row at a point, which calls exp or lgamma, relative to a row of x */
#define ROUND_SWEEPS ((size_t)32)  /* of conditional updates */
#define ROUND_PAIRS  ((size_t)128) /* nearly independent steps: few are enough for decisions */

/* Cost of a row of the run relative to a row of the table. */
static double row_cost(const rows *data, bool joint)
{
    double effects = 0.0;
    if (!data->member_rows) return 1.0;
    const row_groups *g = data->member_rows->groups;
    for (size_t t = 0; t < g->terms && !joint; t++)
        if (mixed_integrates(g, g->term[t].factor)) effects += (double)g->term[t].count;
    double each = smaller(pow(GROUP_NODES, effects), GROUP_COST_MAX);
    return each * (double)data->member_rows->local_rows / (double)data->local_rows;
}

/* Events of a chain per round, so that a round evaluates about ROUND_ROWS rows at most. */
static size_t round_events(const run_plan *plan)
{
    double node = plan->row_cost > 1.0 ? NODE_WORK : 1.0;
    double events = ROUND_ROWS / (10.0 * (double)plan->batch * plan->row_cost * node);
    if (plan->seconds_rule) return ROUND_MIN;
    if (plan->sampler->conditional) return ROUND_SWEEPS;
    if (plan->sampler->pairs || !strcmp(plan->sampler->name, "nuts")) return ROUND_PAIRS;
    if (events >= (double)PLAN_ROUND_EVENTS) return PLAN_ROUND_EVENTS;
    return events < (double)ROUND_MIN ? ROUND_MIN : (size_t)events;
}

/* Added noise enters through the slope along a segment only. */
static sbps_status check_noise(const sbps_options *o, const run_plan *plan, sbps_error *err)
{
    if (o->gradient_noise == 0.0 || !plan->sampler->discrete) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--gradient-noise: not available for %s; use sbps or noisy-bps",
                plan->sampler->name);
}

/* Strata are made from the influence of rows on segments. */
static sbps_status check_strata(const sbps_options *o, const run_plan *plan, sbps_error *err)
{
    bool uses_segments = plan->sampler->curve && !o->paper;
    if (strcmp(o->minibatch, "strata") || uses_segments) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--minibatch: strata need a sampler with a band, such as sbps, and cannot be "
                "combined with --paper");
}

sbps_status plan_make(const sbps_options *o, const rows *data, run_plan *plan, sbps_error *err)
{
    sbps_status status;
    *plan = (run_plan){0};
    if ((status = model_of(o, data, true, &plan->model, err)) != SBPS_OK) return status;
    if ((status = choose_sampler(o, data, plan, err)) != SBPS_OK) return status;
    if ((status = choose_metric(o, plan, err)) != SBPS_OK) return status;
    if ((status = choose_batch(o, data, plan, err)) != SBPS_OK) return status;
    if ((status = check_noise(o, plan, err)) != SBPS_OK) return status;
    if ((status = check_strata(o, plan, err)) != SBPS_OK) return status;
    plan->row_cost = row_cost(data, plan->model->transformation.apply);
    choose_settings(o, plan);
    /* what autotune.c decides, which needs the mode */
    bool uses_segments = !o->paper && plan->sampler->curve;
    plan->auto_batch = uses_segments && o->batch_size == SIZE_AUTO;
    plan->auto_control = uses_segments && is_auto(o->control_variate);
    plan->epochs_rule = !isnan(o->epochs);
    plan->seconds_rule = !isnan(o->seconds);
    plan->round_events = round_events(plan);
    if (o->prior_only) plan->round_events = o->draws;
    plan->ess_rule = option_given(o, "ess") || !(plan->epochs_rule || plan->seconds_rule);
    return SBPS_OK;
}

/* Replaces *a by a metric of that kind, made from the Hessian at the reference. */
static sbps_status take_metric(run_plan *plan, const metric_kind *kind, const posterior *target,
                               const mode *reference, metric **a, sbps_error *err)
{
    metric_destroy(*a);
    plan->metric = kind;
    return metric_create(kind, target->dim, reference->hessian, a, err);
}

/* All metrics give about as many bounces per effective sample: the one with cheaper products is
 * used. */
sbps_status plan_metric(run_plan *plan, const posterior *target, const mode *reference,
                        metric **a, sbps_error *err)
{
    double d = (double)target->dim;
    if (!plan->auto_metric || d < LOWRANK_FROM)
        return take_metric(plan, plan->metric, target, reference, a, err);
    sbps_status status = take_metric(plan, metric_find("lowrank"), target, reference, a, err);
    if (status != SBPS_OK || (*a)->kind->cost(*a) <= LOWRANK_WORK * 0.5 * d * d) return status;
    return take_metric(plan, metric_find("dense"), target, reference, a, err);
}

void plan_take_metric(run_plan *plan, const metric *a)
{
    plan->metric = a->kind;
    plan->scale = 1.0;
}

sbps_status plan_finish(run_plan *plan, const sbps_options *o, const mode *reference,
                        const metric *a, sbps_error *err)
{
    double curvature;
    sbps_status status = metric_mean_curvature(a, reference->hessian, &curvature, err);
    if (status != SBPS_OK) return status;
    plan->scale = sqrt(curvature);
    if (o->dt * plan->scale < DT_MIN && !(o->paper && o->dt == strtod(PAPER_DT, NULL)))
        return fail(err, SBPS_BAD_ARG,
                    "--dt: %g is too short for a posterior of scale %.3g: a segment would take "
                    "too many steps",
                    o->dt, 1.0 / plan->scale);
    double usual = o->paper || plan->sampler->ergodic ? 0.0 : plan->scale / sqrt((double)a->d);
    if (plan->sampler->gaussian) usual = GAUSSIAN_REFRESH;
    plan->settings.refresh_rate = isnan(o->refresh_rate) ? usual : o->refresh_rate;
    return SBPS_OK;
}

bool plan_may_take_hmc(const sbps_options *o, const run_plan *plan)
{
    static const char *const segment_options[] = {
        "band",          "batch-size",     "control-variate", "minibatch",
        "refresh-rate",  "regression",     "weight-decay",    "slope-repair",
        "auxiliary",     "lack-of-fit",    "horizon",         "dt",
        "pool-variance", "gradient-noise", "skeleton",        "trace",
        "adapt-forever", "auxiliary-when", "slope-prior",     "slope-evidence",
        "bounce-batch"};
    if (!is_auto(o->sampler) || plan->metric->learn) return false;
    for (size_t i = 0; i < sizeof segment_options / sizeof *segment_options; i++)
        if (option_given(o, segment_options[i])) return false;
    return true;
}

void plan_take_surrogate(const run_plan *from, run_plan *out)
{
    *out = *from;
    out->sampler = sampler_find("surrogate");
    out->control_variate = out->sampler->control_variate;
    out->batch = 1;
    out->minibatch = &batch_window;
    out->auto_batch = out->auto_control = out->choose_band = false;
    out->round_events = round_events(out);
}

sbps_status plan_check_sampler(const run_plan *plan, const posterior *target, sbps_error *err)
{
    const potential_facts facts = minibatch_facts(target);
    const sampler_kind *kind = plan->sampler;
    return kind->check ? kind->check(&facts, &plan->settings, err) : SBPS_OK;
}

sbps_status plan_take_hmc(const run_plan *from, const posterior *target, const mode *reference,
                          metric **a, run_plan *out, sbps_error *err)
{
    *out = *from;
    out->sampler = sampler_find("hmc");
    out->control_variate = "none";
    out->batch = total_rows(target->data);
    out->minibatch = &batch_full;
    out->auto_batch = out->auto_control = out->choose_band = false;
    out->round_events = round_events(out);
    /* products cost little relative to all rows; a metric that is not white stays as given */
    if (out->auto_metric && !out->metric->white) {
        sbps_status status = take_metric(out, metric_find("dense"), target, reference, a, err);
        if (status != SBPS_OK) return status;
    }
    return plan_check_sampler(out, target, err);
}
