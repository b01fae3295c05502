/* What `auto` means: control variate, rows a batch and sampler, by work counted and never by time,
 * so that a seed decides.
 *
 * The mini-batch noise that a control variate leaves is the sum over all rows of what each makes at points
 * and along directions of the posterior (posterior/influence.c):
 *
 *   c1 = N sum influence_i^2,   c^2 / u'Hu = (c1 / n) (1 - n/N) with n rows a batch.              (1)
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
 * leave less of it, down to single rows that are in every batch. Warm-up then says how far (2) was wrong
 * (replan.c). */
#include "choose/auto.h"

#include "base/decimal.h"
#include "base/real.h"
#include "choose/stage.h"
#include "posterior/influence.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOKS        9.0
#define NOISE_PRICE  7.0
#define STRATA_PRICE 4.0 /* without long tails the band is narrower */
#define LOOK_WORK    320.0
#define PART_WORK    40.0 /* of each stratum */
#define HMC_PASSES   5.5  /* at d = 20 */
#define BAND_USUAL   4.0  /* k */
#define UNMET_SHARE  0.5  /* of the bounces that may be missed */
#define EFFECT_LEAST 1.0  /* posterior sd: rows that users are told of */
#define BATCH_LEAST  ((size_t)4)
#define BATCH_STEP   ((size_t)4)

/* Slopes that one row's slope costs under each control variate: a predictor model keeps the numbers
 * of each row, one given w itself is asked again. */
typedef struct {
    const char *name;
    double general_cost;
} candidate;

static const candidate candidates[] = {{"none", 1.0}, {"gradient", 2.0}, {"hessian", 3.0}};

size_t auto_order(const sbps_run *run)
{
    size_t i = 0;
    while (strcmp(candidates[i].name, run->plan.control_variate)) i++;
    return i;
}

bool auto_wanted(const sbps_run *run)
{
    const run_plan *p = &run->plan;
    bool rowless = p->model->rowless;
    return !run->options->paper && !rowless && p->sampler->curve;
}

/* ---- what it costs ---- */

/* Numbers of x that one row's slope multiplies. */
static double row_work(const sbps_run *run, const char *control_variate)
{
    if (run->plan.model->regression) return rows_numbers(run->target->data);
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

double auto_hmc_work(const sbps_run *run)
{
    double passes = HMC_PASSES * pow((double)run->target->dim / 20.0, 0.25);
    return passes * (double)run->target->data->n * row_work(run, "none");
}

double auto_flight_work(const sbps_run *run, double rows_touched)
{
    size_t parts = run->parts ? run->parts->count : 0;
    double looks = rows_touched / (double)run->plan.batch;
    return rows_touched * row_work(run, run->plan.control_variate) +
           looks * (LOOK_WORK + PART_WORK * (double)parts);
}

double auto_in_rows(const sbps_run *run, double work)
{
    return work / row_work(run, "none");
}

/* ---- choosing ---- */

const batch_kind *auto_minibatch(const sbps_run *run, size_t n)
{
    const rows *data = run->target->data;
    if (run->parts && n < data->n) return &batch_strata;
    return plan_minibatch(run->options, data, &run->plan, n);
}

const batch_kind *auto_widest(const sbps_run *run)
{
    const run_plan *p = &run->plan;
    bool list = p->auto_batch && !run->parts && is_auto(run->options->minibatch) &&
                run->target->data->n <= PLAN_LIST_ROWS && !run->target->data->mapped;
    return list ? &batch_random : p->minibatch;
}

typedef struct {
    const candidate *c;
    size_t batch;
    double noise; /* c1 */
    double work;
    strata parts; /* count 0: rows are all alike */
} verdict;

/* Rows that lie beyond any band when they are met are missed at the rate of their influence, however wide
 * the band; beyond their share of the budget they count against the batches that leave them to chance. */
static double dearer_by_misses(const sbps_run *run, const strata_tally *tally,
                               const strata *parts, size_t n, double variance)
{
    double width = AUTO_SLOPE + BAND_USUAL * sqrt(variance);
    double limit = UNMET_SHARE * MISSING_SHARE * run->options->bias_budget;
    return larger(strata_beyond(tally, parts, n, width) / limit, 1.0);
}

/* Do strata make it cheaper? Batches of n then have the noise of strata_variance. */
static void try_strata(const sbps_run *run, const strata_tally *tally, double work, verdict *v)
{
    size_t n = run->target->data->n;
    bool asked = !strcmp(run->options->minibatch, "strata");
    bool open = asked || (run->plan.auto_batch && is_auto(run->options->minibatch));
    double noise = v->noise / (double)v->batch;
    if (open && v->batch < n) v->work *= dearer_by_misses(run, tally, NULL, v->batch, noise);
    if (asked) v->work = DBL_MAX; /* what is left when rows are all alike */
    strata parts;
    for (size_t count = 2; open && count <= STRATA_MAX; count++) {
        size_t taken[STRATA_MAX], least = STRATA_LEAST * count, most = n / 2;
        if (!run->plan.auto_batch) {
            least = run->plan.batch;
            most = least + 1;
        }
        strata_divide(tally, count, &parts);
        if (parts.count < count) return;
        for (size_t take = least; take < most; take += (take + 3) / 4) {
            size_t all = strata_allot(&parts, take, taken);
            double variance = strata_variance(&parts, take);
            double look = (double)all * work + LOOK_WORK + PART_WORK * (double)count;
            double total = looks_for(run, STRATA_PRICE * variance) * look;
            if (total < v->work) total *= dearer_by_misses(run, tally, &parts, take, variance);
            if (!(total < v->work)) continue;
            *v = (verdict){v->c, take, variance * (double)all, total, parts};
        }
    }
}

static verdict hear(const sbps_run *run, const candidate *c, const float *influence)
{
    strata_tally tally;
    size_t rows_all = run->target->data->n;
    strata_count(rows_all, influence, &tally);
    double work = row_work(run, c->name), noise = (double)rows_all * strata_squares(&tally);
    size_t n = run->plan.auto_batch ? best_batch(run, noise, work) : run->plan.batch;
    double price = n < rows_all ? NOISE_PRICE * noise / (double)n : 0.0;
    verdict v = {.c = c, .batch = n, .noise = noise};
    v.work = looks_for(run, price) * ((double)n * work + LOOK_WORK);
    try_strata(run, &tally, work, &v);
    return v;
}

static void say(sbps_run *run, const verdict *v, bool hmc)
{
    decimal_print(run->plan.why, sizeof run->plan.why,
                  "about %.2g rows' work per effective sample, hmc about %.2g%s",
                  auto_in_rows(run, v->work), auto_in_rows(run, auto_hmc_work(run)),
                  hmc ? ": hmc it is" : "");
}

/* Every row's influence under each candidate; those not open are left NULL. */
typedef struct {
    float *of[INFLUENCE_ORDERS];
} hearing;

static void hearing_close(hearing *h)
{
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) free(h->of[i]);
}

static sbps_status measure_at_points(const sbps_run *run, hearing *h, sbps_error *err)
{
    stage s;
    sbps_status status = stage_open(&s, run, err);
    if (status == SBPS_OK) stage_normal(&s);
    for (size_t i = 0; status == SBPS_OK && i < INFLUENCE_ORDERS; i++) {
        control *cv = NULL;
        if (!h->of[i]) continue;
        status = control_make(run, candidates[i].name, run->reference->w, &cv, err);
        if (status == SBPS_OK) status = stage_influence(&s, cv, h->of[i], err);
        control_destroy(cv);
    }
    stage_close(&s);
    return status;
}

static sbps_status hearing_open(sbps_run *run, hearing *h, sbps_error *err)
{
    *h = (hearing){0};
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        bool fixed = !run->plan.auto_control;
        if (fixed && strcmp(run->plan.control_variate, candidates[i].name)) continue;
        h->of[i] = malloc(run->target->data->n * sizeof *h->of[i]);
        if (!h->of[i]) return fail_memory(err);
    }
    const influence_place at = {run->reference->w, run->reference->w, run->factor};
    run->moving = (row_effects){EFFECT_LEAST, 0, EFFECTS_MOST, run->moving_rows};
    return influence_applies(run->target)
               ? influence_measure(run->target, &at, h->of, &run->moving, err)
               : measure_at_points(run, h, err);
}

/* The cheapest candidate; its strata, where it has some. */
static sbps_status choose(sbps_run *run, const hearing *h, sbps_error *err)
{
    verdict best = {.work = INFINITY};
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        if (!h->of[i]) continue;
        verdict v = hear(run, &candidates[i], h->of[i]);
        if (v.work < best.work) best = v;
    }
    if (!best.c) return SBPS_OK;
    run->plan.control_variate = best.c->name;
    run->plan.batch = best.batch;
    run->plan.promised = best.work;
    bool hmc = plan_may_take_hmc(run) && auto_hmc_work(run) < best.work;
    say(run, &best, hmc);
    if (hmc) return plan_take_hmc(run, err);
    const float *influence = h->of[best.c - candidates];
    strata_count(run->target->data->n, influence, &run->tally);
    if (best.parts.count > 1) {
        sbps_status status =
            strata_create(&best.parts, run->target->data->n, influence, &run->parts, err);
        if (status != SBPS_OK) return status;
    }
    run->plan.minibatch = auto_minibatch(run, best.batch);
    return SBPS_OK;
}

sbps_status auto_choose(sbps_run *run, sbps_error *err)
{
    hearing h;
    if (!auto_wanted(run)) return SBPS_OK;
    sbps_status status = hearing_open(run, &h, err);
    if (status == SBPS_OK) status = choose(run, &h, err);
    hearing_close(&h);
    return status;
}
