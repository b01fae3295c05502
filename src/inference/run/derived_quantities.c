/* Reported quantities that are functions of several coordinates, and their bias. */
#include "inference/run/derived_quantities.h"
#include "core/memory.h"
#include "core/threads.h"
#include "estimate/diagnostics.h"

#include <math.h>
#include <string.h>

/* ---- bias of functions of the coordinates ----
 *
 * The estimated bias of the coordinates is propagated to a function f of them to first order.
 * With m the mean of w and s its estimated shift, in units of w,
 *
 *   shift of f = (f(m + s) - f(m - s)) / 2.                                                 (1)
 *
 * The errors of the shifts are treated as independent. Their contribution to (1) has the
 * variance sum (df/dw_k error_k)^2, which is the mean square of (1) over shifts by one error
 * each with random signs. It is estimated from PROBES such shifts, the same for all functions,
 * without derivatives. */

/* The bias of coordinates propagated to functions of them, see (1). */
typedef struct {
    const posterior *u;
    double *mean, *sd; /* of the coordinates, from the draws */
    double *points;    /* points at which the functions are evaluated, in pairs */
    double *values;    /* of the present block, one point after another */
} propagated_bias;

#define PROBES ((size_t)32)
#define POINTS (2 * (1 + PROBES))

/* Computes mean and sd of every coordinate over the draws. */
static void measure_draws(const sbps_run *run, const result *r, propagated_bias *c)
{
    size_t d = c->u->dim;
    double count = (double)(r->chains * r->draws);
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        const double *w = run->chains[i / r->draws].d.w + i % r->draws * d;
        for (size_t k = 0; k < d; k++) {
            double off = w[k] - run->reference->w[k];
            c->mean[k] += off / count;
            c->sd[k] += off * off / count;
        }
    }
    for (size_t k = 0; k < d; k++) {
        c->sd[k] = sqrt(fmax(c->sd[k] - c->mean[k] * c->mean[k], 0.0));
        c->mean[k] += run->reference->w[k];
    }
}

/* Sets coordinate k of a pair of points to mean -+ shift. */
static void put_pair(const propagated_bias *c, size_t pair, size_t k, double shift)
{
    size_t d = c->u->dim;
    c->points[2 * pair * d + k] = c->mean[k] - shift;
    c->points[(2 * pair + 1) * d + k] = c->mean[k] + shift;
}

/* Sets all points: pair 0 at the shifts, the others at errors with random signs. */
static void place_points(const sbps_run *run, const result *r, const propagated_bias *c)
{
    rng random = rng_stream(run->options->seed, 0, RNG_DERIVED);
    for (size_t k = 0; k < c->u->dim; k++) {
        put_pair(c, 0, k, r->bias[k] * c->sd[k]);
        for (size_t p = 1; p <= PROBES; p++) {
            double sign = rng_uniform(&random) < 0.5 ? -1.0 : 1.0;
            put_pair(c, p, k, sign * r->bias_se[k] * c->sd[k]);
        }
    }
}

/* Allocates, and places the points for the draws of a result. Close it also after a failure. */
static sbps_status propagated_open(const sbps_run *run, const result *r, propagated_bias *c,
                                   sbps_error *err)
{
    size_t d = run->target->dim;
    *c = (propagated_bias){.u = run->target,
                           .mean = new_doubles(d),
                           .sd = new_doubles(d),
                           .points = new_doubles(POINTS * d),
                           .values = new_doubles(POINTS * DERIVED_AT_A_TIME)};
    if (!c->mean || !c->sd || !c->points || !c->values) return fail_memory(err);
    measure_draws(run, r, c);
    place_points(run, r, c);
    return SBPS_OK;
}

/* NULL members are fine. */
static void propagated_close(propagated_bias *c)
{
    free(c->mean);
    free(c->sd);
    free(c->points);
    free(c->values);
}

/* Evaluates the functions of `count` coordinates from `first` on at all points. */
static void propagated_evaluate(propagated_bias *c, size_t first, size_t count)
{
    const posterior *u = c->u;
    for (size_t i = 0; i < POINTS; i++)
        u->model->reported.values(u->self, c->points + i * u->dim, first, count,
                                  c->values + i * count);
}

/* (1) for one pair of points. */
static double shift(const propagated_bias *c, size_t pair, size_t count, size_t i)
{
    const double *values = c->values + 2 * pair * count + i;
    return 0.5 * (values[count] - values[0]);
}

/* Bias of the function at first + i and its standard error, in units of its sd. */
static void propagated_shift(const propagated_bias *c, size_t count, size_t i, double sd,
                             double *of_mean, double *error)
{
    double square = 0.0;
    for (size_t p = 1; p <= PROBES; p++)
        square += shift(c, p, count, i) * shift(c, p, count, i) / (double)PROBES;
    *of_mean = sd > 0.0 ? shift(c, 0, count, i) / sd : NAN;
    *error = sd > 0.0 ? sqrt(square) / sd : NAN;
}

#define EFFECTS_LIVE_MAX 2e6 /* effects * draws that are computed while the run advances */

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

/* ---- iteration over blocks of coordinates ---- */

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

/* Selects the derived quantities of the present block that were requested. */
static void select_derived(derived_job *j)
{
    model_derived of;
    j->selected = 0;
    for (size_t i = j->first; i < j->first + j->count; i++)
        if (posterior_derived(j->run->target, i, &of) &&
            (of.effect ? j->effects : j->parameters))
            j->at[j->selected++] = i;
}

/* Computes the draws of the selected quantities. */
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

/* Summarises derived quantity k of the block. Runs on any worker. */
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

/* The prior of a derived quantity: that of a coordinate with the same one, else unknown. */
static sbps_status store_prior(const posterior *u, result *r, size_t j, sbps_error *err)
{
    model_derived of;
    posterior_derived(u, j, &of);
    r->prior_share[j] = NAN;
    if (of.alike == j) return SBPS_OK; /* already recorded for the coordinate */
    bool known = of.alike < u->dim;
    r->prior_mean[j] = known ? r->prior_mean[of.alike] : NAN;
    r->prior_sd[j] = known ? r->prior_sd[of.alike] : NAN;
    r->seen_mean[j] = r->mean[j];
    r->seen_sd[j] = r->sd[j];
    if (known) return SBPS_OK;
    bool whole = rename_text(&r->prior[j], "") && rename_text(&r->prior_of[j], "");
    return whole ? SBPS_OK : fail_memory(err);
}

/* Stores a block of derived quantities in the result. Of effects whose draws are not kept only
 * the diagnostics are summarised. */
static sbps_status store_block(derived_job *j, propagated_bias *c, effects_kept keep,
                               effect_check *seen, result *r, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    size_t count = r->chains * r->draws;
    if (j->selected > 0) propagated_evaluate(c, j->first, j->count);
    for (size_t k = 0; k < j->selected && status == SBPS_OK; k++) {
        size_t at = j->at[k];
        const draw_summary *s = &j->summary[k];
        if (j->effects && keep != EFFECTS_DRAWS && derived_is_effect(j->run->target, at)) {
            effect_check_add(seen, at, s->rhat, s->ess_bulk, s->ess_tail);
            if (keep == EFFECTS_MOMENTS)
                status = result_add_effect(r, j->run->report.names[at], s->mean, s->sd, err);
            continue;
        }
        status = derived_store(r, at, j->run->report.names[at], j->drawn + k * count, s, err);
        propagated_shift(c, j->count, at - j->first, s->sd, &r->bias[at], &r->bias_se[at]);
        r->sd_bias[at] = r->sd_bias_se[at] = NAN;
        if (status == SBPS_OK) status = store_prior(j->run->target, r, at, err);
    }
    return status;
}

/* Moves effects behind the parameters, or removes them. */
static sbps_status reorder_parameters(const posterior *u, bool effects, result *r,
                                      sbps_error *err)
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

/* True if every reported quantity is a function of a single coordinate. */
static bool none_derived(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; j < u->dim; j++)
        if (posterior_derived(u, j, &of)) return false;
    return true;
}

/* Records the diagnostics of effects that are not kept. */
static sbps_status record_effects(const sbps_run *run, const effect_check *seen,
                                  result_info *info, sbps_error *err)
{
    if (seen->count == 0) return SBPS_OK;
    info->effects_checked = (double)seen->count;
    info->effects_undefined = (double)seen->undefined;
    info->effects_rhat = seen->rhat;
    info->effects_ess = seen->ess;
    info->effects_mean_ess = effect_check_mean_ess(seen);
    info->effects_rhat_of = copy_text(run->report.names[seen->rhat_at]);
    info->effects_ess_of = copy_text(run->report.names[seen->ess_at]);
    bool whole = info->effects_rhat_of && info->effects_ess_of;
    return whole ? SBPS_OK : fail_memory(err);
}

sbps_status derived_show(const sbps_run *run, effects_kept keep, result *r, sbps_error *err)
{
    bool effects = keep == EFFECTS_DRAWS;
    if (none_derived(run->target)) return SBPS_OK;
    /* while the run advances its live page is updated repeatedly: many effects would delay it */
    bool affordable = run->state.phase == PHASE_DONE ||
                      (double)r->dim * (double)r->chains * (double)r->draws <= EFFECTS_LIVE_MAX;
    derived_job j = {
        .run = run, .parameters = true, .effects = effects || affordable, .draws = r->draws};
    propagated_bias c;
    effect_check seen = {0};
    sbps_status status = propagated_open(run, r, &c, err);
    sbps_status opened = derived_open(&j, err);
    if (status == SBPS_OK) status = opened;
    while (derived_next(&j, &status, err)) status = store_block(&j, &c, keep, &seen, r, err);
    derived_close(&j);
    propagated_close(&c);
    if (status == SBPS_OK) status = record_effects(run, &seen, &r->info, err);
    return status == SBPS_OK ? reorder_parameters(run->target, effects, r, err) : status;
}
