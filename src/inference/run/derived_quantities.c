/* See derived.h. */
#include "inference/run/derived_quantities.h"
#include "core/memory.h"
#include "core/threads.h"
#include "estimate/diagnostics.h"

#include <math.h>
#include <string.h>

#define EFFECTS_LIVE_MAX 2e6 /* effects x draws, of a run that goes on */

bool derived_is_effect(const posterior *u, size_t j)
{
    model_derived of;
    return posterior_derived(u, j, &of) && of.effect;
}

size_t derived_parameters(const posterior *u)
{
    size_t count = 0;
    for (size_t j = 0; j < u->dim; j++) count += !derived_is_effect(u, j);
    return count;
}

/* ---- some at a time ---- */

sbps_status derived_open(derived_job *j, sbps_error *err)
{
    size_t held = j->run->chain_count * j->draws;
    j->first = j->count = j->selected = 0;
    j->at = calloc(DERIVED_AT_A_TIME, sizeof *j->at);
    j->drawn = new_doubles(DERIVED_AT_A_TIME * held + 1);
    j->summary = calloc(DERIVED_AT_A_TIME, sizeof *j->summary);
    return j->at && j->drawn && j->summary ? SBPS_OK : fail_memory(err);
}

void derived_close(derived_job *j)
{
    free(j->at);
    free(j->drawn);
    free(j->summary);
}

static void select_derived(derived_job *j)
{
    model_derived of;
    j->selected = 0;
    for (size_t i = j->first; i < j->first + j->count; i++)
        if (posterior_derived(j->run->target, i, &of) &&
            (of.effect ? j->effects : j->parameters))
            j->at[j->selected++] = i;
}

static void derive_draws(derived_job *j)
{
    const posterior *u = j->run->target;
    size_t count = j->run->chain_count * j->draws;
    for (size_t i = 0; i < count; i++) {
        const double *w = j->run->chains[i / j->draws].d.w + i % j->draws * u->dim;
        u->model->reported.values(u->self, w, j->first, j->count, j->value);
        for (size_t k = 0; k < j->selected; k++)
            j->drawn[k * count + i] = j->value[j->at[k] - j->first];
    }
}

static void summarize_selected(void *self, unsigned worker, size_t k)
{
    (void)worker;
    derived_job *j = self;
    size_t chains = j->run->chain_count;
    const double *drawn = j->drawn + k * chains * j->draws;
    j->status[k] = summarize_draws(chains, j->draws, drawn, &j->summary[k], NULL);
}

bool derived_next(derived_job *j, sbps_status *status, sbps_error *err)
{
    size_t dim = j->run->target->dim;
    j->first += j->count;
    if (*status != SBPS_OK || j->first >= dim) return false;
    j->count = dim - j->first < DERIVED_AT_A_TIME ? dim - j->first : DERIVED_AT_A_TIME;
    select_derived(j);
    if (j->selected == 0) return true;
    derive_draws(j);
    *status = workers_run(j->run->workers.threads, j->selected, summarize_selected, j, err);
    for (size_t k = 0; k < j->selected && *status == SBPS_OK; k++)
        if (j->status[k] != SBPS_OK) *status = fail_memory(err);
    return *status == SBPS_OK;
}

/* ---- in a result ---- */

static bool rename_text(char **slot, const char *text)
{
    free(*slot);
    *slot = copy_text(text);
    return *slot;
}

sbps_status derived_store(result *r, size_t at, const char *name, const double *drawn,
                          const draw_summary *s, sbps_error *err)
{
    for (size_t i = 0; i < r->chains * r->draws; i++) r->w[i * r->dim + at] = drawn[i];
    r->mean[at] = s->mean;
    r->sd[at] = s->sd;
    r->mcse[at] = s->mcse_mean;
    r->ess_mean[at] = r->ess_square[at] = s->ess_mean;
    return rename_text(&r->names[at], name) ? SBPS_OK : fail_memory(err);
}

/* Its prior is that of a coordinate which has the same, or is not known. */
static sbps_status store_prior(const posterior *u, result *r, size_t j, sbps_error *err)
{
    model_derived of;
    posterior_derived(u, j, &of);
    r->prior_share[j] = NAN;
    if (of.alike == j) return SBPS_OK; /* as it was recorded of the coordinate */
    bool known = of.alike < u->dim;
    r->prior_mean[j] = known ? r->prior_mean[of.alike] : NAN;
    r->prior_sd[j] = known ? r->prior_sd[of.alike] : NAN;
    r->seen_mean[j] = r->mean[j];
    r->seen_sd[j] = r->sd[j];
    if (known) return SBPS_OK;
    bool whole = rename_text(&r->prior[j], "") && rename_text(&r->prior_of[j], "");
    return whole ? SBPS_OK : fail_memory(err);
}

/* keep: effects go into the result, too; else only what is seen of all of them does. */
static sbps_status store_block(derived_job *j, propagated_bias *c, bool keep,
                               effect_check *seen, result *r, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    size_t count = r->chains * r->draws;
    if (j->selected > 0) propagated_evaluate(c, j->first, j->count);
    for (size_t k = 0; k < j->selected && status == SBPS_OK; k++) {
        size_t at = j->at[k];
        const draw_summary *s = &j->summary[k];
        if (j->effects && !keep && derived_is_effect(j->run->target, at)) {
            effect_check_add(seen, at, s->rhat, s->ess_bulk, s->ess_tail);
            continue;
        }
        status = derived_store(r, at, j->run->reported_names[at], j->drawn + k * count, s, err);
        propagated_shift(c, j->count, at - j->first, s->sd, &r->bias[at], &r->bias_se[at]);
        r->sd_bias[at] = r->sd_bias_se[at] = NAN;
        if (status == SBPS_OK) status = store_prior(j->run->target, r, at, err);
    }
    return status;
}

static sbps_status put_in_order(const posterior *u, bool effects, result *r, sbps_error *err)
{
    size_t count = 0, *order = calloc(r->dim, sizeof *order);
    if (!order) return fail_memory(err);
    for (size_t j = 0; j < r->dim; j++)
        if (!derived_is_effect(u, j)) order[count++] = j;
    bool all = count == r->dim;
    for (size_t j = 0; j < r->dim && effects; j++)
        if (derived_is_effect(u, j)) order[count++] = j;
    sbps_status status = all ? SBPS_OK : result_select(r, order, count, err);
    free(order);
    return status;
}

static bool none_derived(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; j < u->dim; j++)
        if (posterior_derived(u, j, &of)) return false;
    return true;
}

/* While a run goes on its page is made again and again: many effects are then left for the end. */
static bool effects_affordable(const sbps_run *run, const result *r)
{
    return run->state.phase == PHASE_DONE ||
           (double)r->dim * (double)r->chains * (double)r->draws <= EFFECTS_LIVE_MAX;
}

static sbps_status record_effects(const sbps_run *run, const effect_check *seen,
                                  result_info *info, sbps_error *err)
{
    if (seen->count == 0) return SBPS_OK;
    info->effects_checked = (double)seen->count;
    info->effects_undefined = (double)seen->undefined;
    info->effects_rhat = seen->rhat;
    info->effects_ess = seen->ess;
    info->effects_mean_ess = effect_check_mean_ess(seen);
    info->effects_rhat_of = copy_text(run->reported_names[seen->rhat_at]);
    info->effects_ess_of = copy_text(run->reported_names[seen->ess_at]);
    bool whole = info->effects_rhat_of && info->effects_ess_of;
    return whole ? SBPS_OK : fail_memory(err);
}

sbps_status derived_show(const sbps_run *run, bool effects, result *r, sbps_error *err)
{
    if (none_derived(run->target)) return SBPS_OK;
    derived_job j = {.run = run,
                     .parameters = true,
                     .effects = effects || effects_affordable(run, r),
                     .draws = r->draws};
    propagated_bias c;
    effect_check seen = {0};
    sbps_status status = propagated_open(run, r, &c, err);
    sbps_status opened = derived_open(&j, err);
    if (status == SBPS_OK) status = opened;
    while (derived_next(&j, &status, err)) status = store_block(&j, &c, effects, &seen, r, err);
    derived_close(&j);
    propagated_close(&c);
    if (status == SBPS_OK) status = record_effects(run, &seen, &r->info, err);
    return status == SBPS_OK ? put_in_order(run->target, effects, r, err) : status;
}
