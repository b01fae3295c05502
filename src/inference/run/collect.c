/* The result of a run, collected from its chains: draws with their times, estimates, counts,
 * priors and provenance.
 *
 * Means, sds and their ESS are integrals along the path (fill_moments). Draws are copied;
 * quantiles and R-hat are computed from them when a summary is made (estimate). A result can be
 * collected between any two rounds without changing the run: the live page does so. It has the
 * coordinates first; derived_show then replaces those that are reported as something else, and
 * effects_join appends group effects. */
#include "inference/run/collect.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/options/option_table.h"
#include "inference/options/target.h"
#include "inference/run/chain.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/draw_values.h"
#include "inference/run/group_effects.h"
#include "inference/run/influential.h"
#include "inference/run/replan.h"
#include "inference/run/run.h"
#include "inference/run/stated_bias.h"
#include "inference/run/stop.h"
#include "model/prior/prior_shrinkage.h"
#include "posterior/full/log_prior.h"
#include "posterior/mode/laplace.h"
#include "sampler/band/calibration.h"
#include "store/layout.h"
#include "table/content_hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- provenance ----
 *
 * What the run was made from: data, columns and levels, priors, and the fraction of the
 * posterior variance that the priors alone determine. */

#define WIDE     0.3 /* posterior sd */
#define MAX_WORK 2e9 /* multiplications for all fractions; beyond, they are NAN */

/* ---- columns ---- */

/* Writes the formula: target ~ 1 + number + category (reference | level | ...). */
static sbps_status write_formula(const rows *data, char **out, sbps_error *err)
{
    text t = {0};
    text_add(&t, "%s ~ %d", data->table.target ? data->table.target : "", data->intercept);
    for (size_t j = data->intercept, next; j < data->d; j = next) {
        const column_origin *of = data->table.origin ? &data->table.origin[j] : NULL;
        next = j + 1;
        if (!of || !of->level) {
            text_add(&t, " + %s", data->table.names[j]);
            continue;
        }
        while (next < data->d && data->table.origin[next].level &&
               !strcmp(data->table.origin[next].column, of->column))
            next++;
        text_add(&t, " + %s (%s", of->column, of->reference);
        for (size_t i = 0; i < next - j; i++) text_add(&t, " | %s", of[i].level);
        text_add(&t, ")");
    }
    return text_give(&t, out, err);
}

/* Stores a copy of a text, "" for NULL; false: no memory. */
static bool label(char **slot, const char *value)
{
    *slot = copy_text(value ? value : "");
    return *slot;
}

/* Records the column of parameter j: mean, sd, standardisation, names and level. */
static sbps_status record_column(const sbps_run *run, result *r, size_t j, sbps_error *err)
{
    const rows *data = run->table->data;
    size_t c = posterior_column(run->target, j);
    bool known = c < data->d, scaled = known && run->options->standardize && data->table.origin;
    column_origin from = {0};
    if (known && data->table.origin)
        from = data->table.origin[c];
    else if (known && !(data->intercept && c == 0))
        from.column = data->table.names[c];
    r->column_mean[j] = known ? data->table.mean[c] : NAN;
    r->column_sd[j] = known ? data->table.sd[c] : NAN;
    r->standardize_mean[j] = scaled ? from.mean : NAN;
    r->standardize_sd[j] = scaled ? from.sd : NAN;
    bool whole = label(&r->column[j], from.column) && label(&r->level[j], from.level) &&
                 label(&r->reference[j], from.reference);
    return whole ? SBPS_OK : fail_memory(err);
}

/* Records table, formula and columns. */
static sbps_status record_data(const sbps_run *run, result *r, sbps_error *err)
{
    const rows *data = run->table->data;
    if (data->table.design && !(r->design = copy_text(data->table.design)))
        return fail_memory(err);
    r->info.rows_dropped = data->table.dropped == SIZE_MAX ? NAN : (double)data->table.dropped;
    if (data->table.source && !(r->info.data = copy_text(data->table.source)))
        return fail_memory(err);
    sbps_status status = SBPS_OK;
    const char *formula_text = run->options->formula;
    if (formula_text && *formula_text)
        status = (r->info.formula = copy_text(formula_text)) ? SBPS_OK : fail_memory(err);
    else if (!run->plan->model->facts.no_rows)
        status = write_formula(data, &r->info.formula, err);
    for (size_t j = 0; j < r->dim && status == SBPS_OK; j++)
        status = record_column(run, r, j, err);
    return status;
}

/* ---- priors ---- */

/* Posterior mean and sd of the argument of prior j; for a centred intercept from the stored
 * draws. */
static void record_seen(const posterior *u, result *r, size_t j)
{
    size_t count = r->chains * r->draws;
    double sum = 0.0, square = 0.0, middle = 0.0;
    r->seen_mean[j] = r->mean[j];
    r->seen_sd[j] = r->sd[j];
    if (!log_prior_centred(u, j)) return;
    for (size_t i = 0; i < count; i++) {
        double seen = log_prior_argument(u, r->w + i * r->dim, j);
        if (i == 0) middle = seen;
        sum += seen - middle;
        square += (seen - middle) * (seen - middle);
    }
    double mean = sum / (double)count;
    r->seen_mean[j] = count ? middle + mean : NAN;
    r->seen_sd[j] = count ? sqrt(fmax(square / (double)count - mean * mean, 0.0)) : NAN;
}

/* Records the prior of parameter j and its argument. */
static sbps_status record_prior(const sbps_run *run, result *r, size_t j, sbps_error *err)
{
    const posterior *u = run->target;
    const prior *p = &u->priors[j];
    const prior reported = posterior_reported_prior(u, j);
    char of[256];
    prior_format(&reported, sizeof of, of);
    bool one = !prior_shrinks(&reported);
    r->prior_mean[j] = one && p->kind->mean ? p->kind->mean(p->theta) : NAN;
    r->prior_sd[j] = one && p->kind->sd ? p->kind->sd(p->theta) : NAN;
    record_seen(u, r, j);
    model_derived derived;
    bool means =
        log_prior_centred(u, j) || (posterior_derived(u, j, &derived) && derived.at_means);
    bool whole = label(&r->prior[j], of) &&
                 label(&r->prior_of[j], means && u->model->row_model && j >= u->data->d
                                            ? "the parameter at the means of the columns"
                                        : means ? "the predictor at the means of the columns"
                                                : "the parameter");
    return whole ? SBPS_OK : fail_memory(err);
}

/* Records the fraction of the posterior variance determined by the priors alone; not for
 * softmax, where some directions have no likelihood at all. */
static sbps_status record_prior_share(const sbps_run *run, result *r, sbps_error *err)
{
    size_t d = r->dim;
    double work = 0.0, *x = new_doubles(2 * d);
    if (!x) return fail_memory(err);
    for (size_t j = 0; j < d; j++) {
        bool wide = r->seen_sd[j] > WIDE * r->prior_sd[j];
        bool can = run->target->model->facts.regression && !run->options->prior_only &&
                   work <= MAX_WORK;
        r->prior_share[j] = wide && can ? log_prior_fraction(run->target, run->reference->w,
                                                             run->geometry.factor, j, x, x + d)
                                        : NAN;
        if (can && wide) work += 2.0 * (double)d * (double)d;
    }
    free(x);
    return SBPS_OK;
}

/* ---- times of draws ----
 *
 * A draw has a path time; its clock time is interpolated. The clock is read at the end of
 * rounds together with the mean path time of the chains, and time in between is taken as
 * linear. When the readings are full every second one is dropped. Paths do not depend on any of
 * this. */

/* Path time, mean over chains. */
static double mean_path_time(const sbps_run *run)
{
    double sum = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) sum += run->chains[c].d.state->time;
    return sum / (double)run->chain_count;
}

void timestamps_after_round(sbps_run *run)
{
    run_timestamps *m = &run->timestamps;
    if (m->every == 0) m->every = 1;
    if (++m->skipped < m->every) return;
    m->skipped = 0;
    m->at[m->count].time = mean_path_time(run);
    m->at[m->count++].seconds = run->state.seconds_sampling;
    if (m->count < TIMESTAMPS_MAX) return;
    /* drop every second reading */
    for (size_t i = 0; i < TIMESTAMPS_MAX / 2; i++) m->at[i] = m->at[2 * i + 1];
    m->count = TIMESTAMPS_MAX / 2;
    m->every *= 2;
}

/* Clock time of a path time between readings i - 1 (or 0) and i (or now). */
static double between(const sbps_run *run, size_t i, double time)
{
    const run_timestamps *m = &run->timestamps;
    bool past = i == m->count;
    double end = past ? mean_path_time(run) : m->at[i].time,
           seconds = run->state.seconds_sampling;
    double from = i > 0 ? m->at[i - 1].time : 0.0, since = i > 0 ? m->at[i - 1].seconds : 0.0;
    if (!past) seconds = m->at[i].seconds;
    double fraction = end > from ? fmin((time - from) / (end - from), 1.0) : 1.0;
    return since + fraction * (seconds - since);
}

/* Gives every draw of the result its clock time. */
static void timestamps_fill(const sbps_run *run, result *r)
{
    for (size_t c = 0; c < r->chains; c++)
        for (size_t k = 0, i = 0; k < r->draws; k++) {
            double time = (double)(k + 1) * run->chains[c].d.state->spacing;
            while (i < run->timestamps.count && run->timestamps.at[i].time < time) i++;
            r->seconds[c * r->draws + k] = between(run, i, time);
        }
}

/* ---- draws ---- */

/* Copies the draws, on the reported scale (sigma, not log sigma), with the counts since the
 * previous draw. */
static void fill_draws(const sbps_run *run, result *r)
{
    for (size_t c = 0; c < r->chains; c++) {
        const chain *from = &run->chains[c];
        for (size_t i = 0; i < r->draws; i++) {
            size_t at = c * r->draws + i;
            for (size_t j = 0; j < r->dim; j++) {
                double w = from->d.w[i * r->dim + j];
                r->w[at * r->dim + j] = run->report.value[j] ? run->report.value[j](w) : w;
            }
            r->proposals[at] = from->d.counts[i].proposals;
            r->bounces[at] = from->d.counts[i].bounces;
            r->missing[at] = from->d.counts[i].missing;
            r->k[at] = from->s.kind->curve ? from->s.settings->band.width : NAN;
        }
    }
}

/* ---- estimates from the path, counts ---- */

/* Copies mean, sd, standard error and ESS from the path. */
static void fill_moments(const sbps_run *run, result *r)
{
    for (size_t i = 0; i < run->report.watched_count; i++) {
        moment_summary s = moments_summarize(run->moments_of, run->chain_count, i);
        size_t j = run->report.watched ? run->report.watched[i] : i;
        r->mean[j] = s.mean;
        r->sd[j] = s.sd;
        r->mcse[j] = s.mcse;
        r->ess_mean[j] = s.ess_mean;
        r->ess_square[j] = s.ess_square;
    }
    r->info.min_ess = run_min_ess(run);
}

/* Distance of the mean of the draws from the control variate's reference, posterior sd. */
static sbps_status measure_reference(const sbps_run *run, result_info *info, sbps_error *err)
{
    size_t d = run->target->dim;
    double count = 0.0, *x = new_doubles(d);
    if (!x) return fail_memory(err);
    for (size_t c = 0; c < run->chain_count; c++) {
        const draws *from = &run->chains[c].d;
        for (size_t i = 0; i < from->state->count * d; i++) x[i % d] += from->w[i];
        count += (double)from->state->count;
    }
    for (size_t j = 0; j < d; j++) x[j] = x[j] / count - run->noise.cv->w[j];
    if (count > 0.0)
        info->reference_distance =
            laplace_distance(d, run->reference->hessian, x, info->min_ess);
    free(x);
    return SBPS_OK;
}

/* Adds up the events of all chains and derives the rates reported. */
static void fill_counts(const sbps_run *run, result_info *info)
{
    double time = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) {
        const event_counts *happened = run->chains[c].counts;
        info->proposals += (double)happened->proposals;
        info->bounces += (double)happened->bounces;
        info->refreshments += (double)happened->refreshments;
        info->violations += (double)happened->violations;
        info->missing_bounces += happened->missing;
        info->expected_violations += happened->expected;
        info->rows_touched += run_rows_each(run) * (double)happened->rows;
        time += happened->time;
    }
    if (!run->plan->sampler->curve) info->expected_violations = NAN;
    /* velocities have length 1, or about sqrt(d) if Gaussian */
    double speed = run->plan->sampler->gaussian ? sqrt((double)run->target->dim) : 1.0;
    double distance = time * run->plan->scale * speed; /* posterior sd */
    info->eta = distance > 0.0 ? info->missing_bounces / distance : NAN;
    info->refreshments_per_sd =
        distance > 0.0 && !run->plan->sampler->discrete ? info->refreshments / distance : NAN;
}

/* Flags and distances for diagnose: missing refreshment, warm-up that did not converge, a band
 * at its limit, a reference point far from the mean. */
static sbps_status fill_fitness(const sbps_run *run, result_info *info, sbps_error *err)
{
    const sampler_kind *kind = run->plan->sampler;
    bool noise =
        run->tuned.batch < total_rows(&run->data) || run->options->gradient_noise > 0.0;
    info->needs_refreshment =
        !noise && !kind->ergodic && !kind->discrete && !kind->gaussian && run->target->dim > 1;
    info->unsettled = !run->state.goal_reached;
    info->band_capped = kind->curve && run->plan->choose_band &&
                        run->chains->s.settings->band.width >= band_width(BAND_CURVE - 1);
    info->reference_distance = NAN;
    return run->noise.cv ? measure_reference(run, info, err) : SBPS_OK;
}

/* Now, in UTC, as ISO 8601; the caller frees it. */
static char *time_text(void)
{
    char stamp[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    return copy_text(stamp);
}

#define CONTENT_BYTES 1e9 /* bytes of a mapped table up to which its content is hashed */

/* Hashes that identify the table. */
static sbps_status fill_identity(const sbps_run *run, result_info *info, sbps_error *err)
{
    const rows *data = run->table->data, *r = data->member_rows ? data->member_rows : data;
    table_content content = {(content_kind)r->table.content_kind, r->table.content};
    sbps_status status = SBPS_OK;
    char digits[32];
    if (r->storage.mapped && rows_bytes(r) <= CONTENT_BYTES)
        status = content_table(r, CONTENT_ROUNDED, run->workers.threads, &content, err);
    snprintf(digits, sizeof digits, "%016" PRIx64, r->table.hash);
    info->table_hash = copy_text(digits);
    content_print(&content, digits);
    info->rows_content = copy_text(digits);
    if (status != SBPS_OK) return status;
    return info->table_hash && info->rows_content ? SBPS_OK : fail_memory(err);
}

/* Copies names, settings and times into the result. */
static sbps_status fill_info(const sbps_run *run, result *r, sbps_error *err)
{
    result_info *info = &r->info;
    const sbps_options *o = run->options;
    info->sampler = copy_text(run->plan->sampler->name);
    info->model = copy_text(o->model);
    info->control_variate = copy_text(run->plan->control_variate);
    info->metric = copy_text(run->plan->metric->name);
    info->minibatch = copy_text(run->tuned.minibatch->name);
    info->target =
        copy_text(run->table->data->table.target ? run->table->data->table.target : "");
    info->created_at = time_text();
    info->seed = (double)o->seed;
    info->rows = run_rows_each(run) * (double)total_rows(&run->data);
    info->batch_size = run_rows_each(run) * (double)run->chains->batches.is.batch;
    info->band = run->plan->sampler->curve ? run->chains->s.settings->band.width : NAN;
    info->bias_budget = o->bias_budget;
    info->refresh_rate = run->plan->sampler->discrete ? NAN : run->plan->settings.refresh_rate;
    info->passes_setup = run->passes_setup;
    info->ranks = (double)ranks_size(run->ranks.among);
    info->rank_error = run->ranks.error;
    info->rank_bias = run->ranks.bias;
    info->rank_rhat = ranks_rhat(run);
    info->pareto_k = run_pareto_k(run);
    info->seconds_setup = run->seconds_setup;
    info->seconds_warmup = run->state.seconds_warmup;
    info->seconds_sampling = run->state.seconds_sampling;
    info->paper = o->paper;
    info->interrupted = run->state.phase != PHASE_DONE;
    info->ess_goal = run->plan->ess_rule ? o->ess : 0.0;
    char replanned[512];
    replan_report(run, sizeof replanned, replanned);
    info->replanned = copy_text(replanned);
    info->made_by = copy_text("sbps " SBPS_VERSION);
    bool whole = info->sampler && info->replanned && info->made_by && info->model &&
                 info->control_variate && info->metric && info->minibatch && info->target &&
                 info->created_at;
    return whole ? SBPS_OK : fail_memory(err);
}

/* Copies all options as text. */
static sbps_status fill_options(const sbps_run *run, result *r, sbps_error *err)
{
    const char *name;
    char value[4096];
    bool path;
    r->options = calloc(option_count(), sizeof *r->options);
    if (!r->options) return fail_memory(err);
    for (size_t i = 0; option_text(run->options, i, &name, &path, sizeof value, value); i++) {
        result_option *o = &r->options[r->option_count++];
        o->name = copy_text(name);
        o->value = copy_text(value);
        if (!o->name || !o->value) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Fills all parts of the result, in the order of their dependencies. */
static sbps_status fill_result(const sbps_run *run, result *r, sbps_error *err)
{
    sbps_status status;
    for (size_t j = 0; j < r->dim; j++)
        if (!(r->names[j] = copy_text(run->report.names[j]))) return fail_memory(err);
    fill_draws(run, r);
    timestamps_fill(run, r);
    fill_moments(run, r);
    fill_counts(run, &r->info);
    if ((status = fill_fitness(run, &r->info, err)) != SBPS_OK) return status;
    if ((status = run_state_bias(run, r, err)) != SBPS_OK) return status;
    if ((status = values_fill(run, r, err)) != SBPS_OK) return status;
    if ((status = target_failure(run->target, SBPS_OK, err)) != SBPS_OK) return status;
    if ((status = fill_info(run, r, err)) != SBPS_OK) return status;
    if ((status = fill_identity(run, &r->info, err)) != SBPS_OK) return status;
    if ((status = record_data(run, r, err)) != SBPS_OK) return status;
    for (size_t j = 0; j < r->dim; j++)
        if ((status = record_prior(run, r, j, err)) != SBPS_OK) return status;
    if ((status = record_prior_share(run, r, err)) != SBPS_OK) return status;
    if ((status = influential_rows_fill(run, &r->info, err)) != SBPS_OK) return status;
    return fill_options(run, r, err);
}

/* Without draws there are no estimates. */
static void unknown_estimates(result *r)
{
    for (const array_field *f = layout_path; f->name; f++)
        for (size_t j = 0; j < r->dim; j++) (*array_slot(r, f))[j] = NAN;
    r->info.bias_estimate = r->info.min_ess = NAN;
}

/* The result, with what is kept of effects of groups. */
static sbps_status collect(const sbps_run *run, effects_kept kept, result **out,
                           sbps_error *err)
{
    size_t fewest = SIZE_MAX;
    *out = NULL;
    bool changed = run_check_numbers(run, NULL) != SBPS_OK; /* earlier draws are valid */
    sbps_status status = changed ? SBPS_OK : chains_check(run, err);
    if (status != SBPS_OK) return status;
    /* chains have different path times: the shortest one gives the number of draws; warm-up has
     * none */
    if (run->state.phase == PHASE_WARMUP) fewest = 0;
    for (size_t c = 0; c < run->chain_count; c++)
        if (run->chains[c].d.state->count < fewest) fewest = run->chains[c].d.state->count;
    status = result_create(run->chain_count, fewest, run->target->dim, out, err);
    if (status == SBPS_OK) status = fill_result(run, *out, err);
    bool grouped = run->target->model->row_model && fewest > 0;
    if (status == SBPS_OK) status = derived_show(run, kept, *out, err);
    if (status == SBPS_OK && grouped && kept == EFFECTS_DRAWS)
        status = effects_join(run, *out, err);
    if (status == SBPS_OK && grouped && kept == EFFECTS_MOMENTS)
        status = effects_add_moments(run, *out, err);
    if (status == SBPS_OK && fewest == 0) unknown_estimates(*out);
    if (status != SBPS_OK) {
        result_destroy(*out);
        *out = NULL;
    }
    return status;
}

sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err)
{
    return collect(run, effects_of_run(run), out, err);
}

sbps_status run_collect_parameters(const sbps_run *run, result **out, sbps_error *err)
{
    return collect(run, EFFECTS_NONE, out, err);
}
