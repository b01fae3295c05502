/* What a run has to say, gathered from its chains into a result. */
#include "run/run.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define VALUE_ROWS    ((size_t)1000) /* rows behind each stored estimate of the potential */
#define DRAWS_PER_DIM 10.0           /* stored draws a parameter, to trust their covariance */

/* ---- bias ---- */

static void apply_precision(const void *self, const double *x, double *y)
{
    const metric *a = self;
    a->kind->precision(a, x, y);
}

/* Where the covariance is A A' the shift is (d/T) sum m (u - u_r): no matrices. */
double run_bias_quick(const sbps_run *run)
{
    size_t d = run->target->dim;
    double worst = 0.0, time = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) time += run->chains[i].b.state->time;
    if (!(time > 0.0)) return NAN;
    for (size_t j = 0; j < d; j++) {
        double push = 0.0, h = run->reference->hessian[j * d + j];
        double sd = moments_summarize(run->moments_of, run->chain_count, j).sd;
        if (run->report[j]) sd = 1.0 / sqrt(h); /* moments are of exp(w), the push is of w */
        for (size_t i = 0; i < run->chain_count; i++) push += run->chains[i].b.push[j];
        if (sd > 0.0) worst = fmax(worst, fabs(push * (double)d / time) / sd);
    }
    return worst;
}

/* Means and covariance of all stored draws, in w. */
static void draw_covariance(const sbps_run *run, double *mean, double *covariance)
{
    size_t d = run->target->dim;
    double n = 0.0;
    memset(mean, 0, d * sizeof *mean);
    memset(covariance, 0, d * d * sizeof *covariance);
    for (size_t c = 0; c < run->chain_count; c++) {
        const draws *from = &run->chains[c].d;
        for (size_t i = 0; i < from->state->count; i++)
            for (size_t j = 0; j < d; j++) mean[j] += from->w[i * d + j];
        n += (double)from->state->count;
    }
    for (size_t j = 0; j < d; j++) mean[j] /= n;
    for (size_t c = 0; c < run->chain_count; c++) {
        const draws *from = &run->chains[c].d;
        for (size_t i = 0; i < from->state->count; i++) {
            const double *w = from->w + i * d;
            for (size_t j = 0; j < d; j++)
                for (size_t k = 0; k <= j; k++)
                    covariance[j * d + k] += (w[j] - mean[j]) * (w[k] - mean[k]) / (n - 1.0);
        }
    }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++) covariance[k * d + j] = covariance[j * d + k];
}

/* A A', column by column. */
static void metric_covariance(const sbps_run *run, double *scratch, double *covariance)
{
    size_t d = run->target->dim;
    double *h = scratch, *u = scratch + d, *e = scratch + 2 * d;
    for (size_t j = 0; j < d; j++) {
        memset(e, 0, d * sizeof *e);
        e[j] = 1.0 / (run->plan.scale * run->plan.scale);
        run->a->kind->transpose(run->a, e, h);
        run->a->kind->forward(run->a, h, u);
        for (size_t i = 0; i < d; i++) covariance[i * d + j] = u[i];
    }
}

static sbps_status fill_bias(const sbps_run *run, result *r, sbps_error *err)
{
    size_t d = r->dim;
    double *covariance = new_doubles(d * d + 4 * d), *scratch = covariance + d * d,
           draws_kept = 0;
    if (!covariance) return fail_memory(err);
    for (size_t c = 0; c < run->chain_count; c++)
        draws_kept += (double)run->chains[c].d.state->count;
    if (draws_kept >= DRAWS_PER_DIM * (double)d)
        draw_covariance(run, scratch, covariance);
    else
        metric_covariance(run, scratch, covariance);
    precision_map map = {run->a, apply_precision};
    bias_shift(run->bias_of, run->chain_count, map, covariance, scratch, r->bias);
    r->info.bias_estimate = 0.0;
    for (size_t j = 0; j < d; j++) {
        double sd = sqrt(covariance[j * d + j]);
        r->bias[j] = sd > 0.0 ? r->bias[j] / sd : NAN;
        r->info.bias_estimate = fmax(r->info.bias_estimate, fabs(r->bias[j]));
    }
    free(covariance);
    return SBPS_OK;
}

/* ---- draws ---- */

/* U at every stored draw, on batches of its own. */
static sbps_status fill_potential(const sbps_run *run, result *r, sbps_error *err)
{
    size_t n = run->table->data->n;
    const potential_kind *kind = n <= VALUE_ROWS ? &potential_full : &potential_window;
    if (n > VALUE_ROWS) n = VALUE_ROWS;
    arena memory = {0};
    potential gauge;
    potential_carve(&gauge, kind, run->target, n, &memory);
    memory = (arena){.base = aligned_zeroed(memory.used), .size = memory.used};
    if (!memory.base) return fail_memory(err);
    potential_carve(&gauge, kind, run->target, n, &memory);
    for (size_t c = 0; c < r->chains; c++) {
        potential_start(&gauge, rng_stream(run->options->seed, c, RNG_VALUE));
        for (size_t i = 0; i < r->draws; i++)
            potential_value(&gauge, run->chains[c].d.w + i * r->dim,
                            &r->potential[c * r->draws + i],
                            &r->potential_sd[c * r->draws + i]);
    }
    free(memory.base);
    return SBPS_OK;
}

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
            r->band[at] = from->s.settings->band;
        }
    }
}

/* ---- the path's own estimates and the run's counts ---- */

static void fill_moments(const sbps_run *run, result *r)
{
    for (size_t j = 0; j < r->dim; j++) {
        moment_summary s = moments_summarize(run->moments_of, run->chain_count, j);
        r->mean[j] = s.mean;
        r->sd[j] = s.sd;
        r->mcse[j] = s.mcse;
        r->ess_mean[j] = s.ess_mean;
        r->ess_square[j] = s.ess_square;
    }
    r->info.min_ess = moments_min_ess(run->moments_of, run->chain_count);
}

static void fill_counts(const sbps_run *run, result_info *info)
{
    double time = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) {
        const bias_state *b = run->chains[c].b.state;
        info->proposals += (double)b->proposals;
        info->bounces += (double)b->bounces;
        info->refreshments += (double)b->refreshments;
        info->violations += (double)b->violations;
        info->missing_bounces += b->missing;
        info->rows_touched += (double)b->rows;
        time += b->time;
    }
    info->eta = time > 0.0 ? info->missing_bounces / time / run->plan.scale : NAN;
}

static char *time_text(void)
{
    char text[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    return copy_text(text);
}

static sbps_status fill_info(const sbps_run *run, result *r, sbps_error *err)
{
    result_info *info = &r->info;
    const sbps_options *o = run->options;
    info->sampler = copy_text(run->plan.sampler->name);
    info->model = copy_text(run->plan.model->name);
    info->control_variate = copy_text("none");
    info->metric = copy_text(run->plan.metric->name);
    info->minibatch = copy_text(run->plan.minibatch->name);
    info->target = copy_text(run->table->data->target ? run->table->data->target : "");
    info->created_at = time_text();
    info->seed = (double)o->seed;
    info->rows = (double)run->table->data->n;
    info->batch_size = (double)run->plan.batch;
    info->band = run->chains->s.settings->band;
    info->bias_budget = o->bias_budget;
    info->refresh_rate = run->plan.settings.refresh_rate;
    info->seconds_setup = run->seconds_setup;
    info->seconds_warmup = run->state.seconds_warmup;
    info->seconds_sampling = run->state.seconds_sampling;
    info->paper = o->paper;
    info->interrupted = run->state.phase != PHASE_DONE;
    info->ess_goal = run->plan.ess_rule ? o->ess : 0.0;
    bool whole = info->sampler && info->model && info->control_variate && info->metric &&
                 info->minibatch && info->target && info->created_at;
    return whole ? SBPS_OK : fail_memory(err);
}

static sbps_status fill_options(const sbps_run *run, result *r, sbps_error *err)
{
    const char *name;
    char text[4096];
    bool path;
    r->options = calloc(sbps_option_count(), sizeof *r->options);
    if (!r->options) return fail_memory(err);
    for (size_t i = 0; option_text(run->options, i, &name, &path, sizeof text, text); i++) {
        result_option *o = &r->options[r->option_count++];
        o->name = copy_text(name);
        o->value = copy_text(text);
        if (!o->name || !o->value) return fail_memory(err);
    }
    return SBPS_OK;
}

static sbps_status fill(const sbps_run *run, result *r, sbps_error *err)
{
    sbps_status status;
    for (size_t j = 0; j < r->dim; j++)
        if (!(r->names[j] = copy_text(run->names[j]))) return fail_memory(err);
    fill_draws(run, r);
    fill_moments(run, r);
    fill_counts(run, &r->info);
    if ((status = fill_bias(run, r, err)) != SBPS_OK) return status;
    if ((status = fill_potential(run, r, err)) != SBPS_OK) return status;
    if ((status = fill_info(run, r, err)) != SBPS_OK) return status;
    return fill_options(run, r, err);
}

sbps_status run_collect(const sbps_run *run, result **out, sbps_error *err)
{
    size_t least = SIZE_MAX;
    *out = NULL;
    /* chains fly for different times: the shortest says how many draws all of them have */
    for (size_t c = 0; c < run->chain_count; c++)
        if (run->chains[c].d.state->count < least) least = run->chains[c].d.state->count;
    sbps_status status = result_create(run->chain_count, least, run->target->dim, out, err);
    if (status == SBPS_OK) status = fill(run, *out, err);
    if (status != SBPS_OK) {
        result_destroy(*out);
        *out = NULL;
    }
    return status;
}
