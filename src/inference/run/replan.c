/* Corrections of the set-up by what warm-up measures.
 *
 * The control variate is recentred at the mean of the path if that reduces the noise. Batches
 * grow while the noise dominates the band. If segments have used a good part of the work that
 * hmc needs for the whole run, and an effective sample still costs several times as much as
 * with hmc, the chains continue with hmc from where they are: the run then costs little more
 * than one with hmc from the beginning. */
#include "inference/run/replan.h"

#include "core/coordinate_scale.h"
#include "core/decimal.h"
#include "inference/run/chain.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/set_up.h"
#include "inference/run/warmup.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"

#include <math.h>
#include <string.h>

#define NOISE_MAX         4.0 /* k c / sqrt(u'Hu) above which larger batches pay */
#define BATCH_GROWTH      4.0 /* largest factor per epoch */
#define BATCH_STEP        ((size_t)4)
#define MEAN_ESS          50.0 /* ESS of the path before its mean is used as a reference */
#define MEAN_GAIN         0.8  /* noise at the new reference relative to the old, at most */
#define MEAN_FAR          0.1  /* least squared distance of the mean, relative to draws */
#define PATIENCE          0.3 /* part of hmc's work for the run after which it may take over, */
#define BAND_READY_EPOCHS 2   /* if the band has been tuned for this many epochs, */
#define PATIENCE_END      1.0 /* or after this part */
#define COST_RATIO_MIN    1.5 /* least cost per effective sample relative to hmc */
#define HMC_WARMUP        100.0

/* ---- the reference ---- */

/* Measures the influence of the rows around `centre` for the control variate in force at
 * `reference`. */
static sbps_status influence_from(const sbps_run *run, const double *reference,
                                  const double *centre, auto_influences *m, strata_tally *tally,
                                  sbps_error *err)
{
    const influence_point at = {reference, centre, run->geometry.factor};
    sbps_status status = auto_measure_at(run->target, &at, m, err);
    size_t order = auto_order(run->plan->control_variate);
    return status == SBPS_OK ? auto_tally(m, run->target->data, order, tally, err) : status;
}

/* Allocates the influences of the control variate in force. */
static sbps_status influence_open(const sbps_run *run, auto_influences *m, sbps_error *err)
{
    run_plan fixed = *run->plan;
    fixed.auto_control = false;
    return auto_influences_open(run->options, &fixed, run->target, m, err);
}

/* c^2 / u'Hu of the present batches from the influence of the rows. again: with new strata. */
static double batch_noise(const sbps_run *run, const auto_influences *m,
                          const strata_tally *tally, bool again)
{
    size_t n = total_rows(run->target->data);
    if (!run->noise.parts) return (double)n * strata_squares(tally) / (double)run->tuned.batch;
    strata parts = *run->noise.parts;
    if (again)
        strata_divide(tally, run->noise.parts->count, &parts);
    else
        strata_measure(&parts, m->to.rows[auto_order(run->plan->control_variate)]);
    return strata_variance(&parts, run->tuned.batch);
}

/* True if the mean is far enough from the reference for the noise to depend on it. In units of
 * their own spread, rows see draws at e ~ N(s, 1) from the reference, s^2 = |mean -
 * reference|^2 / d on average, and the noise is proportional to E e^2 = 1 + s^2, or to E e^4 /
 * 3 = 1 + 2 s^2 + s^4 / 3. */
static bool mean_is_far(const sbps_run *run, const double *mean)
{
    size_t d = run->target->dim;
    double *way = malloc(d * sizeof *way), far = INFINITY;
    for (size_t j = 0; way && j < d; j++) way[j] = mean[j] - run->noise.cv_centre[j];
    if (way) far = quadratic_terms(d, run->reference->hessian, way);
    free(way);
    return far > MEAN_FAR * (double)d;
}

/* True if the noise around the mean is smaller with the reference there, from the influence of
 * rows. */
static bool mean_is_quieter(const sbps_run *run, const double *mean)
{
    auto_influences m;
    strata_tally tally;
    bool known = influence_open(run, &m, NULL) == SBPS_OK &&
                 influence_from(run, run->noise.cv_centre, mean, &m, &tally, NULL) == SBPS_OK;
    double before = known ? batch_noise(run, &m, &tally, false) : 0.0;
    known = known && influence_from(run, mean, mean, &m, &tally, NULL) == SBPS_OK;
    bool quieter = known && batch_noise(run, &m, &tally, true) < MEAN_GAIN * before;
    auto_influences_close(&m);
    return quieter;
}

/* Sets points of a probe: evenly spaced stored draws, the same number per chain. False: too
 * few. */
static bool probe_at_draws(const sbps_run *run, double *points)
{
    size_t d = run->target->dim, each = PROBE_POINTS / run->chain_count, at = 0;
    for (size_t c = 0; each > 0 && c < run->chain_count; c++) {
        const draws *from = &run->chains[c].d;
        if (from->state->count < each) return false;
        for (size_t i = 0; i < each; i++) {
            size_t pick = i * from->state->count / each;
            memcpy(points + at++ * d, from->w + pick * d, d * sizeof *points);
        }
    }
    for (size_t i = at; at > 0 && i < PROBE_POINTS; i++)
        memcpy(points + i * d, points + (i - at) * d, d * sizeof *points);
    return at > 0;
}

/* mean_is_quieter for models without predictors, by evaluating the slope at stored draws. */
static bool mean_probes_quieter(const sbps_run *run, const double *mean)
{
    probe p;
    control *cv = NULL;
    uint64_t seed = run->options->seed;
    auto_facts facts = run_facts(run);
    if (probe_open(&p, run->target, NULL) != SBPS_OK) return false;
    auto_set_directions(&facts, &p, rng_stream(seed, 0, RNG_AUTO));
    bool known = probe_at_draws(run, p.points) &&
                 run_control(run, run->plan->control_variate, mean, &cv, NULL) == SBPS_OK;
    rng batches = rng_stream(seed, 1, RNG_AUTO);
    bool quieter = known && probe_noise(&p, cv, batches) <
                                MEAN_GAIN * probe_noise(&p, run->noise.cv, batches);
    control_destroy(cv);
    probe_close(&p);
    return quieter;
}

/* Measures the influence of the rows again and sorts them into as many strata as before. *out
 * is the caller's. */
static sbps_status remake_strata(sbps_run *run, strata **out, sbps_error *err)
{
    *out = NULL;
    if (!influence_applies(run->target)) return SBPS_OK;
    strata layout;
    auto_influences m;
    sbps_status status = influence_open(run, &m, err);
    if (status == SBPS_OK)
        status = influence_from(run, run->noise.cv_centre, run->noise.cv_centre, &m,
                                &run->noise.tally, err);
    if (status == SBPS_OK && run->noise.parts) {
        const float *influence = m.to.rows[auto_order(run->plan->control_variate)];
        strata_divide(&run->noise.tally, run->noise.parts->count, &layout);
        status = strata_create(&layout, run->target->data->local_rows, influence, out, err);
    }
    auto_influences_close(&m);
    return status;
}

sbps_status replan_recentre(sbps_run *run, sbps_error *err)
{
    control *cv;
    strata *parts;
    sbps_status status =
        run_control(run, run->plan->control_variate, run->noise.cv_centre, &cv, err);
    if (status != SBPS_OK) return status;
    if ((status = remake_strata(run, &parts, err)) != SBPS_OK) {
        control_destroy(cv);
        return status;
    }
    control_destroy(run->noise.cv);
    run->noise.cv = cv;
    if (parts) {
        strata_destroy(run->noise.parts);
        run->noise.parts = parts;
    }
    status = run_bound_pairs(run, NULL, err);
    chains_take_control(run);
    return status == SBPS_OK ? ranks_measure_error(run, err) : status;
}

/* Recentres the control variate at the mean of the path, once, if that pays. True: it did. */
static bool move_reference(sbps_run *run)
{
    size_t bytes = run->target->dim * sizeof(double);
    if (run->state.recentred || !run->noise.cv || !run->plan->auto_control) return false;
    if (moments_min_ess(run->moments_of, run->chain_count) < MEAN_ESS) return false;
    run->state.recentred = true;
    double *mean = malloc(2 * bytes), *before = mean ? mean + run->target->dim : NULL;
    if (!mean) return false;
    for (size_t j = 0; j < run->target->dim; j++) { /* of the path, in coordinates */
        double of = moments_summarize(run->moments_of, run->chain_count, j).mean;
        mean[j] = scale_coordinate(run->target->scale[j], of);
    }
    memcpy(before, run->noise.cv_centre, bytes);
    bool taken = mean_is_far(run, mean);
    if (run->ranks.among && !influence_applies(run->target))
        taken = false; /* the probe differs between ranks */
    if (taken)
        taken = influence_applies(run->target) ? mean_is_quieter(run, mean)
                                               : mean_probes_quieter(run, mean);
    if (taken) {
        memcpy(run->noise.cv_centre, mean, bytes);
        taken = replan_recentre(run, NULL) == SBPS_OK;
        if (!taken) memcpy(run->noise.cv_centre, before, bytes);
    }
    if (taken) chains_take_batch(run);
    free(mean);
    return taken;
}

/* ---- the batch ---- */

/* Enlarges the batches if noise dominates the band. True: it did. */
static bool grow_batch(sbps_run *run)
{
    const sampler_kind *kind = run->plan->sampler;
    size_t all = total_rows(run->target->data), n = run->tuned.batch;
    if (!run->plan->auto_batch || !kind->noise || n >= all) return false;
    double noise = 0.0, k = run->chains->s.settings->band.width;
    for (size_t i = 0; i < run->chain_count; i++) noise += kind->noise(&run->chains[i].s);
    double ratio = k * sqrt(noise / (double)run->chain_count) / NOISE_MAX;
    if (!(ratio > 1.0)) return false;
    size_t larger_n = (size_t)(smaller(ratio * ratio, BATCH_GROWTH) * (double)n);
    larger_n = (larger_n + BATCH_STEP - 1) / BATCH_STEP * BATCH_STEP;
    larger_n = plan_batch_max(run->target->data, larger_n);
    if (larger_n <= n) return false;
    for (size_t i = 0; i < run->chain_count; i++)
        kind->scale_noise(&run->chains[i].s, (double)n / (double)larger_n);
    auto_facts facts = run_facts(run);
    run->tuned.batch = larger_n;
    run->tuned.minibatch = auto_minibatch(&facts, run->plan, run->noise.parts, larger_n);
    chains_take_batch(run);
    return true;
}

bool replan_after_epoch(sbps_run *run)
{
    if (!auto_applies(run->options, run->plan)) return false;
    bool moved = move_reference(run);
    return grow_batch(run) || moved;
}

/* ---- the exact sampler ---- */

bool run_may_leave_surrogate(const sbps_run *run)
{
    return run->plan == run->plans && run->plans[1].sampler;
}

/* Rows evaluated in this epoch, all chains; adds the steps to *steps. */
static double rows_of_epoch(const sbps_run *run, double *steps)
{
    double touched = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) {
        touched += (double)run->chains[i].counts->rows;
        *steps += (double)run->chains[i].counts->proposals;
    }
    return touched;
}

/* Frees what only `surrogate` needs. */
static void release_exact_control(sbps_run *run)
{
    const char *name = run->plan->control_variate;
    row_bounds_destroy(run->noise.bounds);
    run->noise.bounds = NULL;
    if (!strcmp(name, "gradient")) control_reduce(run->target, run->noise.cv);
    if (strcmp(name, "none")) return;
    control_destroy(run->noise.cv);
    run->noise.cv = NULL;
}

sbps_status replan_take_alternative(sbps_run *run, sbps_error *err)
{
    chains_destroy(run);
    run_use_plan(run, &run->plans[1]);
    run->noise.parts = run->noise.spare.parts;
    run->noise.tally = run->noise.spare.tally;
    run->noise.spare = (spare_parts){0};
    release_exact_control(run);
    sbps_status status = run_find_warps(run, err);
    if (status == SBPS_OK) status = chains_create(run, err);
    if (status == SBPS_OK) chains_start(run);
    return status;
}

/* Starts the warm-up of another sampler; rounds and time of the last one are kept. */
static void restart_warmup(sbps_run *run, const run_state *before)
{
    warmup_begin(run);
    run->state.rounds = before->rounds;
    run->state.seconds_warmup = before->seconds_warmup;
}

sbps_status replan_leave_surrogate(sbps_run *run, bool *left, sbps_error *err)
{
    *left = false;
    if (!run_may_leave_surrogate(run)) return SBPS_OK;
    double steps = 0.0, touched = rows_of_epoch(run, &steps);
    double ess = moments_min_ess(run->moments_of, run->chain_count);
    double cost = auto_surrogate_work(run->target, touched, steps) / larger(ess, 1.0);
    if (!(cost > COST_RATIO_MIN * auto_promised(run->target, &run->plans[1]))) return SBPS_OK;
    run_state before = run->state;
    sbps_status status = replan_take_alternative(run, err);
    if (status != SBPS_OK) return status;
    restart_warmup(run, &before);
    run->state.surrogate_left = *left = true;
    run->state.surrogate_cost = cost;
    return SBPS_OK;
}

/* ---- the sampler ---- */

/* Work of segments that evaluated rows_touched rows with the present batches. */
static double work_of(const sbps_run *run, double touched)
{
    return auto_segment_work(run->target, run->plan->control_variate, run->tuned.batch,
                             run->noise.parts, touched);
}

/* Cost per effective sample in this epoch; *spent: work of all epochs. */
static double measure_cost(const sbps_run *run, double *spent)
{
    double touched = 0.0;
    for (size_t i = 0; i < run->chain_count; i++)
        touched += (double)run->chains[i].counts->rows;
    *spent = work_of(run, run->state.warmup_rows + touched);
    double ess = moments_min_ess(run->moments_of, run->chain_count);
    return work_of(run, touched) / larger(ess, 1.0);
}

/* True if hmc is to take over. */
static bool hmc_is_due(const sbps_run *run, double *cost, double *spent)
{
    if (run->state.phase != PHASE_WARMUP || run->options->warmup != SIZE_AUTO) return false;
    if (!auto_applies(run->options, run->plan) || !run->plan->ess_rule ||
        !plan_may_take_hmc(run->options, run->plan))
        return false;
    double hmc = auto_hmc_work(run->target), whole = hmc * (run->options->ess + HMC_WARMUP);
    *cost = measure_cost(run, spent);
    bool band_ready = run->state.epoch >= BAND_READY_EPOCHS || *spent > PATIENCE_END * whole;
    return band_ready && *spent > PATIENCE * whole && *cost > COST_RATIO_MIN * hmc;
}

/* *useful: no boundary makes hmc slow. Measured once per run. */
static sbps_status hmc_is_useful(sbps_run *run, bool *useful, sbps_error *err)
{
    bool oblique = run->geometry.oblique;
    *useful = !oblique;
    if (run->geometry.profiled) return SBPS_OK;
    sbps_status status =
        auto_has_oblique_boundary(run->target, run->reference, run->geometry.a, &oblique, err);
    run->geometry.profiled = true;
    run->geometry.oblique = oblique;
    *useful = !oblique;
    return status;
}

sbps_status replan_take_hmc(sbps_run *run, sbps_error *err)
{
    size_t d = run->target->dim, count = run->chain_count;
    double *at = new_doubles(count * d);
    if (!at) return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        memcpy(at + i * d, run->chains[i].s.p_next, d * sizeof *at);
    chains_destroy(run);
    control_destroy(run->noise.cv);
    strata_destroy(run->noise.parts);
    run->noise.cv = NULL;
    run->noise.parts = NULL;
    sbps_status status = plan_take_hmc(run->plan, run->target, run->reference, &run->geometry.a,
                                       &run->plans[2], err);
    run_use_plan(run, &run->plans[2]);
    if (status == SBPS_OK) status = run_find_warps(run, err);
    if (status == SBPS_OK) status = chains_create(run, err);
    if (status == SBPS_OK) chains_start_at(run, at);
    free(at);
    return status;
}

sbps_status replan_after_round(sbps_run *run, sbps_error *err)
{
    double cost, spent;
    bool useful;
    if (!hmc_is_due(run, &cost, &spent)) return SBPS_OK;
    sbps_status status = hmc_is_useful(run, &useful, err);
    if (status != SBPS_OK || !useful) return status;
    run_state before = run->state;
    status = replan_take_hmc(run, err);
    if (status != SBPS_OK) return status;
    restart_warmup(run, &before);
    run->state.hmc_took_over = true;
    run->state.replaced_cost = cost;
    run->state.spent = spent;
    return SBPS_OK;
}

/* Prints why `surrogate` was replaced. */
static void print_surrogate_switch(const sbps_run *run, size_t size, char *text)
{
    decimal_print(text, size,
                  "switched from surrogate to %s in warm-up: an effective sample cost about "
                  "%.2g row evaluations, not the estimated %.2g",
                  run->plans[1].sampler->name,
                  auto_in_rows(run->target, run->state.surrogate_cost),
                  auto_in_rows(run->target, run->plans[0].promised));
}

bool replan_report(const sbps_run *run, size_t size, char *text)
{
    *text = '\0';
    if (run->state.surrogate_left) {
        print_surrogate_switch(run, size, text);
        size_t used = strlen(text);
        if (!run->state.hmc_took_over || used + 3 > size) return true;
        strcpy(text + used, "; ");
        text += used + 2;
        size -= used + 2;
    }
    if (!run->state.hmc_took_over) return false;
    decimal_print(text, size,
                  "switched to hmc after %.2g row evaluations in warm-up: an effective sample "
                  "cost about %.2g of them, not the estimated %.2g",
                  auto_in_rows(run->target, run->state.spent),
                  auto_in_rows(run->target, run->state.replaced_cost),
                  auto_in_rows(run->target, run->plan->promised));
    return true;
}
