/* What `auto` means: control variate, rows a batch and sampler, by work counted and never by time,
 * so that a seed decides.
 *
 * The mini-batch noise that a control variate leaves is measured at points spread like the
 * posterior, along directions of the metric:
 *
 *   c1 = n c^2 / (1 - n/N) / u'Hu,  mean over points:  c^2 / u'Hu = c1 / n with n rows a batch.   (1)
 *
 * Looks per effective sample were measured on logistic regressions, d = 5 to 100, N = 1e3 to 1e6,
 * n = 2 to 200: 9 sqrt(d) without noise, and with it (1 + 0.6 k c/sqrt(u'Hu)) times that, where k rises
 * with the noise so that the product with k is about 12 c^2/u'Hu. So the work of an effective sample,
 * in numbers of x multiplied, is about
 *
 *   9 sqrt(d) (1 + 7 c1/n) (n z + 320),   least at  n = sqrt(7 c1 320/z),                         (2)
 *
 * z numbers a row, 320 of them as long as the rest of a look. `hmc` takes 5.5 (d/20)^(1/4) gradients of
 * N rows. Where few rows make most of the noise, strata of rows of like influence (potential/strata.c)
 * leave less of it; a row's influence is measured along as many flights as can be afforded.
 * In warm-up the band then found says how far (2) was wrong, and batches grow until the noise
 * in the band no longer rules; a reference point at the mean of the path so far takes the mode's
 * place where it leaves less noise. */
#include "base/decimal.h"
#include "base/real.h"
#include "run/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOKS        9.0
#define NOISE_PRICE  7.0
#define STRATA_PRICE 4.0 /* without long tails the band is narrower */
#define LOOK_WORK    320.0
#define HMC_PASSES   5.5               /* at d = 20 */
#define STRATA_ROWS  ((size_t)4000000) /* tables up to here */
#define STRATA_NOISE 0.05              /* c^2 / u'Hu that is not worth the trouble */
#define BATCH_LEAST  ((size_t)4)
#define BATCH_STEP   ((size_t)4)
#define NOISE_MOST   4.0  /* k c / sqrt(u'Hu) beyond which larger batches pay */
#define BATCH_GROWTH 4.0  /* at most, at once */
#define MEAN_ESS     50.0 /* of the path, before its mean is a better reference */
#define MEAN_GAIN    0.8  /* of the noise: what a new reference must bring it down to */

/* Slopes that one row's slope costs under each control variate: a predictor model keeps the numbers
 * of each row, a general one is asked again. */
typedef struct {
    const char *name;
    double general_cost;
} candidate;

static const candidate candidates[] = {{"none", 1.0}, {"gradient", 2.0}, {"hessian", 3.0}};

static bool wanted(const sbps_run *run)
{
    const run_plan *p = &run->plan;
    bool rowless = p->model->general && p->model->general->rowless;
    return !run->options->paper && !rowless && p->sampler->curve;
}

/* ---- what it costs ---- */

/* Numbers of x that one row's slope multiplies. */
static double row_work(const sbps_run *run, const char *control_variate)
{
    if (!run->plan.model->general) return rows_numbers(run->target->data);
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (!strcmp(candidates[i].name, control_variate))
            return candidates[i].general_cost * (double)run->target->dim;
    return (double)run->target->dim;
}

static size_t best_batch(const sbps_run *run, double noise, double work)
{
    double n = sqrt(NOISE_PRICE * noise * LOOK_WORK / work);
    size_t all = run->target->data->n, steps = (size_t)smaller(n / BATCH_STEP + 0.5, 1e9);
    size_t rounded = steps * BATCH_STEP;
    if (rounded < BATCH_LEAST) rounded = BATCH_LEAST;
    return rounded > all / 2 ? all : rounded;
}

/* (2), first half: of what the noise costs. */
static double looks_for(const sbps_run *run, double price)
{
    return LOOKS * sqrt((double)run->target->dim) * (1.0 + price);
}

static double hmc_work(const sbps_run *run)
{
    double passes = HMC_PASSES * pow((double)run->target->dim / 20.0, 0.25);
    return passes * (double)run->target->data->n * row_work(run, "none");
}

/* ---- choosing ---- */

static const potential_kind *minibatch_for(const sbps_run *run, size_t n)
{
    const rows *data = run->target->data;
    if (run->parts && n < data->n) return &potential_strata;
    return plan_minibatch(run->options, data, &run->plan, n);
}

const potential_kind *audition_widest(const sbps_run *run)
{
    const run_plan *p = &run->plan;
    bool list = p->auto_batch && !run->parts && is_auto(run->options->minibatch) &&
                run->target->data->n <= PLAN_LIST_ROWS && !run->target->data->mapped;
    return list ? &potential_random : p->minibatch;
}

typedef struct {
    const candidate *c;
    size_t batch;
    double noise, work;
    control *cv;
    strata *parts; /* NULL: rows are all alike */
} verdict;

static void verdict_clear(verdict *v)
{
    control_destroy(v->cv);
    strata_destroy(v->parts);
    *v = (verdict){.work = INFINITY};
}

/* Do strata make it cheaper? Batches of n then have the noise of strata_variance. */
static sbps_status try_strata(const sbps_run *run, stage *s, double work, verdict *v,
                              sbps_error *err)
{
    size_t n = run->target->data->n;
    bool open = run->plan.auto_batch && is_auto(run->options->minibatch);
    bool noisy = v->batch >= n || v->noise > STRATA_NOISE * (double)v->batch;
    if (!open || !noisy || n > STRATA_ROWS || run->target->data->mapped) return SBPS_OK;
    double *influence = new_doubles(n);
    strata *parts = NULL;
    if (!influence) return fail_memory(err);
    stage_influence(s, v->cv, influence);
    sbps_status status = strata_create(n, influence, &parts, err);
    free(influence);
    if (status != SBPS_OK) return status;
    bool better = false;
    size_t take = 2 * STRATA_LEAST * parts->count;
    for (; parts->count > 1 && take < n / 2; take += (take + 3) / 4) {
        double variance = strata_variance(parts, take);
        double total =
            looks_for(run, STRATA_PRICE * variance) * ((double)take * work + LOOK_WORK);
        if (!(total < v->work)) continue;
        v->batch = take;
        v->noise = variance * (double)take;
        v->work = total;
        better = true;
    }
    if (better)
        v->parts = parts;
    else
        strata_destroy(parts);
    return SBPS_OK;
}

static sbps_status hear(const sbps_run *run, stage *s, const candidate *c, verdict *out,
                        sbps_error *err)
{
    *out = (verdict){.c = c, .work = INFINITY};
    sbps_status status = control_make(run, c->name, run->reference->w, &out->cv, err);
    if (status != SBPS_OK) return status;
    double work = row_work(run, c->name), noise = stage_noise(s, out->cv);
    size_t n = run->plan.auto_batch ? best_batch(run, noise, work) : run->plan.batch;
    double price = n < run->target->data->n ? NOISE_PRICE * noise / (double)n : 0.0;
    out->batch = n;
    out->noise = noise;
    out->work = looks_for(run, price) * ((double)n * work + LOOK_WORK);
    return try_strata(run, s, work, out, err);
}

static void say(sbps_run *run, const verdict *v, bool hmc)
{
    double unit = row_work(run, "none");
    decimal_print(run->plan.why, sizeof run->plan.why,
                  "about %.2g rows' work per effective sample, hmc about %.2g%s",
                  v->work / unit, hmc_work(run) / unit, hmc ? ": hmc it is" : "");
}

sbps_status audition_set_up(sbps_run *run, sbps_error *err)
{
    stage s;
    if (!wanted(run)) return SBPS_OK;
    sbps_status status = stage_open(&s, run, err);
    if (status != SBPS_OK) return status;
    stage_normal(&s);
    verdict best = {.work = INFINITY};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        verdict v;
        bool fixed = !run->plan.auto_control;
        if (fixed && strcmp(run->plan.control_variate, candidates[i].name)) continue;
        status = hear(run, &s, &candidates[i], &v, err);
        verdict_clear(status == SBPS_OK && v.work < best.work ? &best : &v);
        if (status != SBPS_OK) break;
        if (v.c) best = v;
    }
    stage_close(&s);
    if (status != SBPS_OK || !best.c) {
        verdict_clear(&best);
        return status;
    }
    run->plan.control_variate = best.c->name;
    run->plan.batch = best.batch;
    bool hmc = plan_may_take_hmc(run) && hmc_work(run) < best.work;
    say(run, &best, hmc);
    if (hmc) {
        verdict_clear(&best);
        return plan_take_hmc(run, err);
    }
    run->cv = best.cv;
    run->parts = best.parts;
    run->plan.minibatch = minibatch_for(run, best.batch);
    return SBPS_OK;
}

/* ---- in warm-up ---- */

/* The mean of the path as a reference. True when it was taken. */
static bool try_mean(sbps_run *run, stage *s)
{
    size_t d = run->target->dim;
    double before = stage_noise(s, run->cv);
    for (size_t j = 0; j < d; j++) {
        double mean = moments_summarize(run->moments_of, run->chain_count, j).mean;
        s->z[j] = run->report[j] ? log(mean) : mean;
    }
    memcpy(s->q, s->z, d * sizeof *s->q); /* z and q are scratch of stage_noise */
    control *cv = NULL;
    if (control_make(run, run->plan.control_variate, s->q, &cv, NULL) != SBPS_OK) return false;
    if (!(stage_noise(s, cv) < MEAN_GAIN * before)) {
        control_destroy(cv);
        return false;
    }
    control_destroy(run->cv);
    run->cv = cv;
    chains_take_control(run);
    return true;
}

static bool move_reference(sbps_run *run)
{
    if (run->state.anchored || !run->cv || !run->plan.auto_control) return false;
    if (moments_min_ess(run->moments_of, run->chain_count) < MEAN_ESS) return false;
    stage s;
    if (stage_open(&s, run, NULL) != SBPS_OK) return false;
    bool taken = stage_draws(&s) && try_mean(run, &s);
    stage_close(&s);
    run->state.anchored = true;
    return taken;
}

/* Larger batches while the noise in the band rules. */
static bool grow_batch(sbps_run *run)
{
    const sampler_kind *kind = run->plan.sampler;
    size_t all = run->target->data->n, n = run->plan.batch;
    if (!run->plan.auto_batch || !kind->noise || n >= all) return false;
    double noise = 0.0, k = run->chains->s.settings->band;
    for (size_t i = 0; i < run->chain_count; i++) noise += kind->noise(&run->chains[i].s);
    double ratio = k * sqrt(noise / (double)run->chain_count) / NOISE_MOST;
    if (!(ratio > 1.0)) return false;
    size_t larger_n = (size_t)(smaller(ratio * ratio, BATCH_GROWTH) * (double)n);
    larger_n = (larger_n + BATCH_STEP - 1) / BATCH_STEP * BATCH_STEP;
    if (larger_n > all / 2) larger_n = all;
    if (larger_n == n) return false;
    for (size_t i = 0; i < run->chain_count; i++)
        kind->scale_noise(&run->chains[i].s, (double)n / (double)larger_n);
    run->plan.batch = larger_n;
    run->plan.minibatch = minibatch_for(run, larger_n);
    chains_take_batch(run);
    return true;
}

bool audition_after_epoch(sbps_run *run)
{
    if (!wanted(run)) return false;
    bool moved = move_reference(run);
    return grow_batch(run) || moved;
}
