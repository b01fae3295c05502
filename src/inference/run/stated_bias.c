/* The bias estimate of a run and its standard error: estimated missing bounces times the linear
 * response of means and standard deviations to them (estimate/bias.h). */
#include "inference/run/stated_bias.h"
#include "estimate/bias_response.h"
#include "inference/run/run.h"

#include <math.h>
#include <string.h>

#define DRAWS_PER_DIM 10.0 /* stored draws per parameter needed to use their covariance */

/* y = (d Cov(u))^-1 x with Cov(u) = A A'/d, or A A' for Gaussian velocities. */
static void apply_precision(const void *self, const double *x, double *y)
{
    const sbps_run *run = self;
    const metric *a = run->chains->s.a; /* the same for all chains once frozen */
    a->kind->precision(a, x, y);
    for (size_t j = 0; run->plan->sampler->gaussian && j < a->d; j++) y[j] /= (double)a->d;
}

/* True if the bias cannot be estimated: the sampler has no estimate, or its metric keeps
 * adapting. */
static bool unmetered(const sbps_run *run)
{
    bool adapting = run->options->adapt_forever && run->chains->s.own.kind;
    return run->plan->sampler->unmetered || adapting;
}

/* ---- first-order estimate ---- */

/* Standard deviations of the coordinates. Moments are of reported values; where these differ
 * from the coordinates the Hessian at the mode is used. */
static void fill_sds(const sbps_run *run, double *sd)
{
    size_t d = run->target->dim;
    for (size_t j = 0; j < d; j++)
        sd[j] = run->report.value[j]
                    ? 1.0 / sqrt(run->reference->hessian[j * d + j])
                    : moments_summarize(run->moments_of, run->chain_count, j).sd;
}

double run_bias_quick(const sbps_run *run)
{
    if (unmetered(run)) return NAN;
    if (!run->reference->hessian) return 0.0; /* hmc has no bounces */
    double *sd = new_doubles(run->target->dim);
    if (!sd) return NAN;
    fill_sds(run, sd);
    quick_response q = {{run, apply_precision}, run->geometry.factor, sd};
    double worst = quick_worst(&q, run->bias_of, run->chain_count);
    free(sd);
    return worst;
}

/* First-order estimate, for few draws. */
static sbps_status state_quickly(const sbps_run *run, const bias_statement *out,
                                 sbps_error *err)
{
    double *sd = new_doubles(run->target->dim);
    if (!sd) return fail_memory(err);
    fill_sds(run, sd);
    quick_response q = {{run, apply_precision}, run->geometry.factor, sd};
    sbps_status status = quick_respond(&q, run->bias_of, run->chain_count, out, err);
    free(sd);
    return status;
}

/* ---- estimate from the draws ---- */

/* Copies of the draws minus the reference; *x and *blocks are the caller's. */
static sbps_status copy_centred_draws(const sbps_run *run, double **x, draw_block **blocks,
                                      sbps_error *err)
{
    size_t d = run->target->dim, kept = 0, chains = run->chain_count;
    for (size_t c = 0; c < chains; c++) kept += run->chains[c].d.state->count;
    double *next = *x = new_doubles(kept * d);
    *blocks = calloc(chains, sizeof **blocks);
    if (!*x || !*blocks) return fail_memory(err);
    for (size_t c = 0; c < chains; c++) {
        const draws *from = &run->chains[c].d;
        (*blocks)[c] = (draw_block){next, from->state->count};
        for (size_t i = 0; i < from->state->count * d; i++)
            *next++ = from->w[i] - run->reference->w[i % d];
    }
    return SBPS_OK;
}

/* True if the stored draws are enough to estimate their covariance. */
static bool enough_draws(const sbps_run *run)
{
    double kept = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) kept += (double)run->chains[c].d.state->count;
    return kept >= DRAWS_PER_DIM * (double)run->target->dim;
}

/* Estimate from the covariance of the draws; first-order if that fails. */
static sbps_status state_fully(const sbps_run *run, const bias_statement *out, sbps_error *err)
{
    double *x = NULL;
    draw_block *blocks = NULL;
    precision_map map = {run, apply_precision};
    sbps_status status = copy_centred_draws(run, &x, &blocks, err);
    if (status == SBPS_OK &&
        bias_respond(run->bias_of, run->chain_count, blocks, map, out, NULL) != SBPS_OK)
        status = state_quickly(run, out, err);
    free(x);
    free(blocks);
    return status;
}

/* ---- bias of a result ---- */

/* Sets the bias of all means and sds, and its standard errors, to x. */
static void set_estimates(result *r, double x)
{
    for (size_t j = 0; j < r->dim; j++)
        r->bias[j] = r->bias_se[j] = r->sd_bias[j] = r->sd_bias_se[j] = x;
}

sbps_status run_state_bias(const sbps_run *run, result *r, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bias_statement out = {r->bias, r->bias_se, r->sd_bias, r->sd_bias_se};
    bool guessed = run->plan->sampler->curve || r->info.violations > 0.0;
    if (unmetered(run)) {
        set_estimates(r, NAN);
        r->info.bias_estimate = r->info.bias_estimate_se = r->info.eta = NAN;
        return SBPS_OK;
    }
    if (!guessed)
        set_estimates(r, 0.0); /* with exact bounds no bounce can be missed */
    else if (enough_draws(run))
        status = state_fully(run, &out, err);
    else
        status = state_quickly(run, &out, err);
    r->info.bias_estimate = r->info.bias_estimate_se = 0.0;
    for (size_t j = 0; status == SBPS_OK && j < r->dim; j++) {
        if (j > 0 && !(fabs(r->bias[j]) > r->info.bias_estimate)) continue;
        r->info.bias_estimate = fabs(r->bias[j]);
        r->info.bias_estimate_se = r->bias_se[j];
    }
    return status;
}

/* True if the largest bias may be on either side of the budget, within two standard errors. */
static bool is_unsure(const result *r, double budget)
{
    bool unsure = false;
    for (size_t j = 0; j < r->dim; j++) {
        double size = fabs(r->bias[j]), errors = 2.0 * r->bias_se[j];
        if (size - errors > budget) return false;
        unsure |= size + errors > budget;
    }
    return unsure;
}

bool run_bias_unsure(const sbps_run *run)
{
    result *r;
    if (!run->plan->sampler->curve || unmetered(run)) return false;
    if (result_create(run->chain_count, 0, run->target->dim, &r, NULL) != SBPS_OK) return false;
    bool known = run_state_bias(run, r, NULL) == SBPS_OK;
    bool unsure = known && is_unsure(r, run->options->bias_budget);
    result_destroy(r);
    return unsure;
}
