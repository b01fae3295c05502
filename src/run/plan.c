/* What the options leave open is decided here: model, sampler, metric, mini-batch, settings.
 * `--paper` is a row of settings like ours; what the user gives goes before either. */
#include "run/run.h"

#include <math.h>
#include <string.h>

#define BATCH_DEFAULT ((size_t)104) /* thirteen cache lines of doubles */
#define WINDOW_FROM   100.0 /* rows per batch row, from which windows replace random rows */
#define BAND_FIRST    5.0   /* before warm-up has chosen */
#define PAPER_BATCH   ((size_t)100)

static const sampler_settings settings_default = {
    .band = BAND_FIRST,
    .horizon = 1.0,
    .floor = 0.1,
    .chord = NAN,
    .pool = 3.0,
    .learning_rate = 0.01,
    .lack_of_fit = true,
};

static const sampler_settings settings_paper = {
    .band = 3.0,
    .horizon = INFINITY,
    .chord = 0.01,
    .learning_rate = 0.01,
    .keep_variance = true,
};

static bool is_auto(const char *text)
{
    return !text || !strcmp(text, "auto");
}

static sbps_status unknown(const char *option, const char *word, const char *const *names,
                           size_t count, sbps_error *err)
{
    const char *near = nearest_name(word, names, count);
    return fail(err, SBPS_BAD_ARG, "--%s: there is no '%s'%s%s%s", option, word,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static sbps_status choose_model(const sbps_options *o, run_plan *plan, sbps_error *err)
{
    const char *names[64];
    size_t count = 0;
    if (!o->model || !*o->model)
        return fail(err, SBPS_BAD_ARG, "--model is missing; 'sbps list models' names them");
    plan->model = model_find(o->model);
    if (plan->model) return SBPS_OK;
    for (; model_kinds[count] && count < 64; count++) names[count] = model_kinds[count]->name;
    return unknown("model", o->model, names, count, err);
}

static sbps_status choose_sampler(const sbps_options *o, run_plan *plan, sbps_error *err)
{
    const char *names[64], *word = is_auto(o->sampler) ? "sbps" : o->sampler;
    size_t count = 0;
    plan->sampler = sampler_find(word);
    if (plan->sampler) return SBPS_OK;
    for (; sampler_kinds[count] && count < 64; count++)
        names[count] = sampler_kinds[count]->name;
    return unknown("sampler", word, names, count, err);
}

static sbps_status choose_metric(const sbps_options *o, run_plan *plan, sbps_error *err)
{
    const char *word = is_auto(o->metric) ? (o->paper ? "none" : "dense") : o->metric;
    for (size_t i = 0; metric_kinds[i]; i++)
        if (!strcmp(metric_kinds[i]->name, word)) plan->metric = metric_kinds[i];
    if (!plan->metric) return fail(err, SBPS_BAD_ARG, "--metric: there is no '%s'", word);
    if (!is_auto(o->control_variate) && strcmp(o->control_variate, "none"))
        return fail(err, SBPS_BAD_ARG,
                    "--control-variate: '%s' is not in this version, only none",
                    o->control_variate);
    return SBPS_OK;
}

/* Windows stream, but eq. (10) holds for them only on average over shuffles: with few windows in
 * the table random rows are right. */
static sbps_status choose_batch(const sbps_options *o, const rows *data, run_plan *plan,
                                sbps_error *err)
{
    size_t n = o->batch_size, usual = o->paper ? PAPER_BATCH : BATCH_DEFAULT;
    if (n > data->n)
        return fail(err, SBPS_BAD_ARG, "--batch-size: %zu is more than the table's %zu rows", n,
                    data->n);
    if (n == SIZE_AUTO) n = data->n < 2 * usual ? data->n : usual;
    plan->batch = n;
    if (n == data->n)
        plan->minibatch = &potential_full;
    else if (is_auto(o->minibatch))
        plan->minibatch = o->paper || (double)data->n / (double)n < WINDOW_FROM
                              ? &potential_random
                              : &potential_window;
    else
        plan->minibatch =
            strcmp(o->minibatch, "window") ? &potential_random : &potential_window;
    return SBPS_OK;
}

static void choose_settings(const sbps_options *o, run_plan *plan)
{
    sampler_settings *s = &plan->settings;
    *s = o->paper ? settings_paper : settings_default;
    plan->choose_band = isnan(o->band) && !o->paper;
    if (!isnan(o->band)) s->band = o->band;
    if (!isnan(o->horizon)) s->horizon = o->horizon;
    if (!isnan(o->dt)) s->chord = o->dt;
    if (!is_auto(o->lack_of_fit)) s->lack_of_fit = !strcmp(o->lack_of_fit, "on");
    if (!is_auto(o->pool_variance))
        s->pool = strcmp(o->pool_variance, "on") ? 0.0 : settings_default.pool;
}

sbps_status plan_make(const sbps_run *run, const rows *data, run_plan *plan, sbps_error *err)
{
    const sbps_options *o = run->options;
    sbps_status status;
    *plan = (run_plan){0};
    if ((status = choose_model(o, plan, err)) != SBPS_OK) return status;
    if ((status = choose_sampler(o, plan, err)) != SBPS_OK) return status;
    if ((status = choose_metric(o, plan, err)) != SBPS_OK) return status;
    if ((status = choose_batch(o, data, plan, err)) != SBPS_OK) return status;
    choose_settings(o, plan);
    plan->epochs_rule = !isnan(o->epochs);
    plan->seconds_rule = !isnan(o->seconds);
    plan->ess_rule = option_given(o, "ess") || !(plan->epochs_rule || plan->seconds_rule);
    return SBPS_OK;
}

/* mean of v'A'HAv over directions: trace(H A A') / d, by applying both to the unit vectors. */
static double mean_curvature(const sbps_run *run, double *e, double *u, double *h)
{
    size_t d = run->target->dim;
    double sum = 0.0;
    for (size_t j = 0; j < d; j++) {
        memset(e, 0, d * sizeof *e);
        e[j] = 1.0;
        run->a->kind->forward(run->a, e, u);
        for (size_t i = 0; i < d; i++) {
            h[i] = 0.0;
            for (size_t k = 0; k < d; k++) h[i] += run->reference->hessian[i * d + k] * u[k];
        }
        for (size_t i = 0; i < d; i++) sum += u[i] * h[i];
    }
    return sum / (double)d;
}

sbps_status plan_finish(sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    size_t d = run->target->dim;
    double *scratch = new_doubles(3 * d);
    if (!scratch) return fail_memory(err);
    run->plan.scale = sqrt(mean_curvature(run, scratch, scratch + d, scratch + 2 * d));
    free(scratch);
    double usual = o->paper ? 0.0 : run->plan.scale / sqrt((double)d);
    run->plan.settings.refresh_rate = isnan(o->refresh_rate) ? usual : o->refresh_rate;
    return SBPS_OK;
}
