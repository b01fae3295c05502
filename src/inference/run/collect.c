/* What a run has to say, gathered from its chains into a result. */
#include "core/ranks/ranks.h"
#include "inference/options/option_spec.h"
#include "inference/options/target.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/draw_values.h"
#include "inference/run/replan.h"
#include "posterior/mode/laplace.h"
#include "sampler/band/calibration.h"
#include "store/layout.h"
#include "table/content_hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- draws ---- */

static void fill_draws(const sbps_run *run, result *r)
{
    for (size_t c = 0; c < r->chains; c++) {
        const chain *from = &run->chains[c];
        for (size_t i = 0; i < r->draws; i++) {
            size_t at = c * r->draws + i;
            for (size_t j = 0; j < r->dim; j++) {
                double w = from->d.w[i * r->dim + j];
                r->w[at * r->dim + j] = run->report[j] ? run->report[j](w) : w;
            }
            r->proposals[at] = from->d.counts[i].proposals;
            r->bounces[at] = from->d.counts[i].bounces;
            r->missing[at] = from->d.counts[i].missing;
            r->k[at] = from->s.kind->curve ? from->s.settings->band.width : NAN;
        }
    }
}

/* ---- the path's own estimates and the run's counts ---- */

static void fill_moments(const sbps_run *run, result *r)
{
    for (size_t i = 0; i < run->watched_count; i++) {
        moment_summary s = moments_summarize(run->moments_of, run->chain_count, i);
        size_t j = run->watched ? run->watched[i] : i;
        r->mean[j] = s.mean;
        r->sd[j] = s.sd;
        r->mcse[j] = s.mcse;
        r->ess_mean[j] = s.ess_mean;
        r->ess_square[j] = s.ess_square;
    }
    r->info.min_ess = run_min_ess(run);
}

/* How far the draws' mean lies from the reference. */
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
    for (size_t j = 0; j < d; j++) x[j] = x[j] / count - run->cv->w[j];
    if (count > 0.0)
        info->reference_distance =
            laplace_distance(d, run->reference->hessian, x, info->min_ess);
    free(x);
    return SBPS_OK;
}

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
    /* velocities are of length 1 or, where they are Gaussian, about sqrt(d) */
    double speed = run->plan->sampler->gaussian ? sqrt((double)run->target->dim) : 1.0;
    double distance = time * run->plan->scale * speed; /* posterior sd */
    info->eta = distance > 0.0 ? info->missing_bounces / distance : NAN;
    info->refreshments_per_sd =
        distance > 0.0 && !run->plan->sampler->discrete ? info->refreshments / distance : NAN;
}

/* How well what a control variate or a warm-up rests on fits what was found. */
static sbps_status fill_fitness(const sbps_run *run, result_info *info, sbps_error *err)
{
    const sampler_kind *kind = run->plan->sampler;
    bool noise =
        run->tuned.batch < total_rows(&run->data) || run->options->gradient_noise > 0.0;
    info->needs_refreshment =
        !noise && !kind->ergodic && !kind->discrete && !kind->gaussian && run->target->dim > 1;
    info->unsettled = !run->state.settled;
    info->band_capped = kind->curve && run->plan->choose_band &&
                        run->chains->s.settings->band.width >= band_width(BAND_CURVE - 1);
    info->reference_distance = NAN;
    return run->cv ? measure_reference(run, info, err) : SBPS_OK;
}

static char *time_text(void)
{
    char text[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    return copy_text(text);
}

#define CONTENT_BYTES 1e9 /* a mapped table up to this size is gone through for its content */

/* What tells the table from another. */
static sbps_status fill_identity(const sbps_run *run, result_info *info, sbps_error *err)
{
    const rows *data = run->table->data, *r = data->member_rows ? data->member_rows : data;
    table_content content = {(content_kind)r->table.content_kind, r->table.content};
    sbps_status status = SBPS_OK;
    char text[32];
    if (r->storage.mapped && rows_bytes(r) <= CONTENT_BYTES)
        status = content_table(r, CONTENT_ROUNDED, run->workers.threads, &content, err);
    snprintf(text, sizeof text, "%016" PRIx64, r->table.hash);
    info->table_hash = copy_text(text);
    content_print(&content, text);
    info->rows_content = copy_text(text);
    if (status != SBPS_OK) return status;
    return info->table_hash && info->rows_content ? SBPS_OK : fail_memory(err);
}

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
    info->ranks = (double)ranks_size(run->among);
    info->rank_error = run->rank_error;
    info->rank_bias = run->rank_bias;
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

static sbps_status fill_options(const sbps_run *run, result *r, sbps_error *err)
{
    const char *name;
    char text[4096];
    bool path;
    r->options = calloc(option_count(), sizeof *r->options);
    if (!r->options) return fail_memory(err);
    for (size_t i = 0; option_text(run->options, i, &name, &path, sizeof text, text); i++) {
        result_option *o = &r->options[r->option_count++];
        o->name = copy_text(name);
        o->value = copy_text(text);
        if (!o->name || !o->value) return fail_memory(err);
    }
    return SBPS_OK;
}

static sbps_status fill_result(const sbps_run *run, result *r, sbps_error *err)
{
    sbps_status status;
    for (size_t j = 0; j < r->dim; j++)
        if (!(r->names[j] = copy_text(run->reported_names[j]))) return fail_memory(err);
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
    if ((status = run_record(run, r, err)) != SBPS_OK) return status;
    if ((status = influential_rows_fill(run, &r->info, err)) != SBPS_OK) return status;
    return fill_options(run, r, err);
}

/* Without draws there is nothing to estimate from. */
static void unknown_estimates(result *r)
{
    for (const array_field *f = layout_path; f->name; f++)
        for (size_t j = 0; j < r->dim; j++) (*array_slot(r, f))[j] = NAN;
    r->info.bias_estimate = r->info.min_ess = NAN;
}

sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err)
{
    size_t fewest = SIZE_MAX;
    *out = NULL;
    bool changed = run_check_numbers(run, NULL) != SBPS_OK; /* draws before that are good */
    sbps_status status = changed ? SBPS_OK : chains_check(run, err);
    if (status != SBPS_OK) return status;
    /* chains fly for different times: the shortest says how many draws all of them have; what a
     * warm-up keeps for itself is none */
    if (run->state.phase == PHASE_WARMUP) fewest = 0;
    for (size_t c = 0; c < run->chain_count; c++)
        if (run->chains[c].d.state->count < fewest) fewest = run->chains[c].d.state->count;
    status = result_create(run->chain_count, fewest, run->target->dim, out, err);
    if (status == SBPS_OK) status = fill_result(run, *out, err);
    bool all = !strcmp(run->options->ranef, "all"),
         effects = run->target->model->row_model && all;
    if (status == SBPS_OK) status = derived_show(run, all, *out, err);
    if (status == SBPS_OK && effects && fewest > 0) status = effects_join(run, *out, err);
    if (status == SBPS_OK && fewest == 0) unknown_estimates(*out);
    if (status != SBPS_OK) {
        result_destroy(*out);
        *out = NULL;
    }
    return status;
}
