/* Automatic choices: control variate, rows per batch and sampler, by estimated work. Work is
 * counted, never timed, so that the result depends on the seed only.
 *
 * The mini-batch noise under a control variate follows from the influence of each row, measured
 * at points and along directions of the posterior (posterior/full/influence.c):
 *
 *   c1 = N sum influence_i^2,   c^2 / u'Hu = (c1 / n) (1 - n/N) with n rows per batch.      (1)
 *
 * Observations per effective sample were measured on logistic regressions with d = 5 to 100, N
 * = 1e3 to 1e6, n = 2 to 200: 9 sqrt(d) without noise, and (1 + 0.6 k c/sqrt(u'Hu)) times that
 * with noise, where k increases with the noise so that the product with k is about 12 c^2/u'Hu.
 * The work per effective sample, in numbers of x multiplied, is therefore about
 *
 *   9 sqrt(d) (1 + 7 c1/n) (n z + 320),   minimal at  n = sqrt(7 c1 320/z),                 (2)
 *
 * with z numbers per row; 320 of them take as long as the rest of an observation. `hmc` needs
 * 5.5 (d/20)^(1/4) gradients of N rows. With G groups it needs 1 + 120/G times as many, since
 * few groups give the logarithm of a sd a long tail; samplers with segments need 1 + 60/G times
 * as many observations (measured with one and two effects per level, G = 12 to 300). If few
 * rows cause most of the noise, strata of rows of similar influence
 * (posterior/minibatch/strata.c) reduce it, down to single rows that are in every batch.
 * Warm-up corrects (2) where it was wrong (run/replan.c). */
#include "inference/autotune/autotune.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "inference/options/target.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/mode/laplace.h"
#include "posterior/mode/profile.h"
#include "table/generated_rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cost of the slope of a row under each control variate, in slopes, for models that store no
 * numbers per row and are evaluated at the reference again. */
typedef struct {
    const char *name;
    double general_cost;
} candidate;

static const candidate candidates[] = {{"none", 1.0}, {"gradient", 2.0}, {"hessian", 3.0}};

size_t auto_order(const char *control_variate)
{
    size_t i = 0;
    while (strcmp(candidates[i].name, control_variate)) i++;
    return i;
}

/* ---- influence of the rows ----
 *
 * The influence of every row under each candidate, stored per row, or as a histogram for tables
 * whose numbers are recomputed. Measured during the search for the mode, or here. */

#define RECOMPUTE_FROM                                                                         \
    ((size_t)1000000) /* rows in the caller's memory above which nothing is stored per row */

/* Exact samplers and strata need numbers stored for every row. */
bool auto_recompute_rows(const sbps_options *o, const rows *data, const run_plan *plan)
{
    bool uses_segments = plan->sampler->curve && !plan->sampler->bounded && !o->paper;
    bool apart = plan->model->predictor && strcmp(o->minibatch, "strata");
    return data->storage.recipe || (data->storage.place && data->local_rows >= RECOMPUTE_FROM &&
                                    uses_segments && apart);
}

/* True if the control variate of this order is a candidate. */
static bool is_open(const run_plan *plan, const posterior *target, size_t order)
{
    /* evaluating a group is expensive, storing numbers for it is cheap */
    bool last = order + 1 == INFLUENCE_ORDERS, fixed = !plan->auto_control;
    if (fixed) return auto_order(plan->control_variate) == order;
    return last || !target->model->row_model;
}

sbps_status auto_influences_open(const sbps_options *o, const run_plan *plan,
                                 const posterior *target, auto_influences *out, sbps_error *err)
{
    *out = (auto_influences){.to = {.width = STRATA_COUNTS, .count = strata_add}};
    if (!auto_applies(o, plan)) return SBPS_OK;
    bool counted = target->data->recompute_rows && influence_applies(target);
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        if (!is_open(plan, target, i)) continue;
        if (counted)
            out->to.counts[i] = new_doubles(STRATA_COUNTS);
        else
            out->to.rows[i] = malloc(target->data->local_rows * sizeof *out->to.rows[i]);
        if (!out->to.rows[i] && !out->to.counts[i]) return fail_memory(err);
    }
    return SBPS_OK;
}

void auto_influences_close(auto_influences *m)
{
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        free(m->to.rows[i]);
        free(m->to.counts[i]);
        control_destroy(m->made[i]);
    }
    *m = (auto_influences){0};
}

/* True if control variates of this order are a candidate. */
static bool auto_measured(const auto_influences *m, size_t order)
{
    return m->to.rows[order] || m->to.counts[order];
}

sbps_status auto_tally(const auto_influences *m, const rows *data, size_t order,
                       strata_tally *out, sbps_error *err)
{
    if (!auto_measured(m, order))
        return fail(err, SBPS_BAD_FILE,
                    "the checkpoint is damaged: it has strata without the control variate that "
                    "they belong to");
    if (m->to.rows[order]) return strata_count(data, m->to.rows[order], out, err);
    strata_from_counts(m->to.counts[order], out);
    return SBPS_OK;
}

void auto_set_directions(const auto_facts *f, probe *p, rng random)
{
    size_t d = f->target->dim;
    for (size_t i = 0; i < PROBE_POINTS; i++) {
        double *u = p->directions + i * d;
        metric_draw_direction(f->a, &random, p->scratch, u);
        p->natural[i] = quadratic_terms(d, f->reference->hessian, u);
    }
}

/* Measures the influence at draws from the normal at the mode, by evaluating slopes. */
static sbps_status measure_at_points(const auto_facts *f, auto_influences *m, sbps_error *err)
{
    probe p;
    size_t d = f->target->dim;
    const double *at = f->reference->w;
    rng random = rng_stream(f->options->seed, 0, RNG_AUTO);
    sbps_status status = probe_open(&p, f->target, err);
    for (size_t i = 0; status == SBPS_OK && i < PROBE_POINTS; i++)
        laplace_draw(d, at, f->factor, &random, p.points + i * d);
    if (status == SBPS_OK) auto_set_directions(f, &p, random);
    for (size_t i = 0; status == SBPS_OK && i < INFLUENCE_ORDERS; i++) {
        control *cv = NULL;
        if (!m->to.rows[i]) continue;
        status = target_control(f->target, f->reference, candidates[i].name, at, &cv, err);
        if (status == SBPS_OK) status = probe_influence(&p, cv, random, m->to.rows[i], err);
        if (f->target->model->row_model)
            m->made[i] = cv;
        else
            control_destroy(cv);
    }
    probe_close(&p);
    return status;
}

/* Generated rows are drawn from one distribution without outliers: a sample represents them,
 * and none is reported as influential. */
static sbps_status measure_sample(const posterior *u, const influence_point *at,
                                  auto_influences *m, sbps_error *err)
{
    rows few = generated_sample(u->data, GENERATED_FEW);
    double factor = (double)total_rows(u->data) / (double)few.local_rows;
    influence_target to = m->to;
    posterior part = *u;
    part.data = &few;
    to.effects = NULL;
    sbps_status status = influence_measure(&part, at, &to, err);
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++)
        for (size_t j = 0; to.counts[i] && j < to.width; j++) to.counts[i][j] *= factor;
    if (to.steepness) *to.steepness = 1.0 + factor * (*to.steepness - 1.0);
    return status;
}

sbps_status auto_measure_at(const posterior *u, const influence_point *at, auto_influences *m,
                            sbps_error *err)
{
    return u->data->storage.recipe ? measure_sample(u, at, m, err)
                                   : influence_measure(u, at, &m->to, err);
}

/* The numbers of (2), of strata, and of the paragraph below it. */
#define OBSERVATIONS     9.0
#define NOISE_COST       7.0
#define STRATA_COST      4.0 /* with strata, whose band has no long tails */
#define OBSERVATION_WORK 320.0
#define PART_WORK        40.0  /* per stratum */
#define HMC_PASSES       5.5   /* gradients per effective sample at d = 20 */
#define FEW_BY_HMC       120.0 /* number of groups that doubles the cost of hmc */
#define FEW_BY_SEGMENTS  60.0  /* the same for segments */
#define BAND_USUAL       4.0   /* usual width of the band */
#define LOG_SD_WIDE      0.35  /* posterior sd of log sd above which it may reach 0 */
#define MISSED_FRACTION  0.5 /* part of the missing bounces allowed for rows beyond the band */
#define BATCH_MIN        ((size_t)4)
#define BATCH_STEP       ((size_t)4) /* batches are multiples of it */

bool auto_applies(const sbps_options *o, const run_plan *p)
{
    bool no_rows = p->model->facts.no_rows;
    return !o->paper && !no_rows && p->sampler->curve;
}

/* ---- estimated costs ---- */

/* Numbers of x multiplied for the slope of a row. */
static double row_work(const posterior *u, const char *control_variate)
{
    if (u->model->facts.regression) return rows_numbers(u->data);
    size_t order = auto_order(control_variate);
    double d = (double)u->dim, slope = u->model->rows.cost ? u->model->rows.cost(u->self) : d;
    if (u->model->rows.expand) return slope + (order == 0 ? 0.0 : order == 1 ? d : d + d * d);
    return candidates[order].general_cost * slope;
}

/* Batch size that minimises (2), rounded. */
static size_t best_batch(const posterior *u, double noise, double work)
{
    double n = sqrt(NOISE_COST * noise * OBSERVATION_WORK / work);
    size_t steps = (size_t)smaller(n / BATCH_STEP + 0.5, 1e9), rounded = steps * BATCH_STEP;
    return plan_batch_max(u->data, rounded < BATCH_MIN ? BATCH_MIN : rounded);
}

/* Factor for the long tails of models with few groups. */
static double few_groups_factor(const posterior *u, double few)
{
    return u->model->row_model ? 1.0 + few / (double)u->data->local_rows : 1.0;
}

/* Observations per effective sample, the first factors of (2). */
static double observations_needed(const posterior *u, double noise_cost)
{
    return OBSERVATIONS * sqrt((double)u->dim) * (1.0 + noise_cost) *
           few_groups_factor(u, FEW_BY_SEGMENTS);
}

double auto_hmc_work(const posterior *target)
{
    double passes = HMC_PASSES * pow((double)target->dim / 20.0, 0.25);
    return passes * few_groups_factor(target, FEW_BY_HMC) * (double)total_rows(target->data) *
           row_work(target, "none");
}

double auto_segment_work(const posterior *target, const char *control_variate, size_t each,
                         const strata *parts, double rows_touched)
{
    size_t count = parts ? parts->count : 0;
    double observations = rows_touched / (double)each;
    return rows_touched * row_work(target, control_variate) +
           observations * (OBSERVATION_WORK + PART_WORK * (double)count);
}

double auto_in_rows(const posterior *target, double work)
{
    return work / row_work(target, "none");
}

/* ---- choosing ---- */

const batch_kind *auto_minibatch(const auto_facts *f, const run_plan *plan, const strata *parts,
                                 size_t n)
{
    const rows *data = f->target->data;
    if (parts && n < data->local_rows) return &batch_strata;
    return plan_minibatch(f->options, data, plan, n);
}

const batch_kind *auto_widest(const auto_facts *f, const run_plan *plan, const strata *parts,
                              const batch_kind *first)
{
    const rows *data = f->target->data;
    bool list = plan->auto_batch && !parts && is_auto(f->options->minibatch) &&
                data->local_rows <= PLAN_LIST_ROWS && !data->storage.mapped && !data->partition;
    return list ? &batch_random : first;
}

/* What a candidate costs with its best batch size. */
typedef struct {
    const candidate *c; /* NULL: none was measured */
    size_t batch;
    double noise; /* c1 */
    double work;  /* per effective sample, numbers of x multiplied */
    strata parts; /* count 0: no strata */
    strata_tally tally;
} verdict;

/* Penalty for rows whose slope is beyond any band: they are missed at the rate of their
 * influence whatever the width. Beyond their part of the bias budget they count against batches
 * that may not contain them. */
static double missed_row_penalty(const sbps_options *o, const strata_tally *tally,
                                 const strata *parts, size_t n, double variance)
{
    double width = AUTO_SLOPE + BAND_USUAL * sqrt(variance);
    double limit = MISSED_FRACTION * MISSING_FRACTION * o->bias_budget;
    return larger(strata_beyond(tally, parts, n, width) / limit, 1.0);
}

/* Replaces *v by strata if they are cheaper; batches then have the noise of strata_variance. */
static void consider_strata(const auto_facts *f, const run_plan *plan, double work, verdict *v)
{
    const strata_tally *tally = &v->tally;
    size_t n = f->target->data->local_rows;
    bool requested = !strcmp(f->options->minibatch, "strata");
    /* ranks would have different strata; recomputed tables store no stratum per row */
    bool none = f->target->data->partition || f->target->data->recompute_rows;
    bool open = !none && (requested || (plan->auto_batch && is_auto(f->options->minibatch)));
    double noise = v->noise / (double)v->batch;
    if (open && v->batch < n)
        v->work *= missed_row_penalty(f->options, tally, NULL, v->batch, noise);
    if (requested) v->work = DBL_MAX; /* used if no strata can be made */
    strata parts;
    for (size_t count = 2; open && count <= STRATA_MAX; count++) {
        size_t taken[STRATA_MAX], smallest = STRATUM_ROWS_MIN * count, limit = n / 2;
        if (!plan->auto_batch) {
            smallest = plan->batch;
            limit = smallest + 1;
        }
        strata_divide(tally, count, &parts);
        if (parts.count < count) return;
        for (size_t take = smallest; take < limit; take += (take + 3) / 4) {
            size_t all = strata_allot(&parts, take, taken);
            double variance = strata_variance(&parts, take);
            double observation_work =
                (double)all * work + OBSERVATION_WORK + PART_WORK * (double)count;
            double total =
                observations_needed(f->target, STRATA_COST * variance) * observation_work;
            if (total < v->work)
                total *= missed_row_penalty(f->options, tally, &parts, take, variance);
            if (!(total < v->work)) continue;
            v->batch = take;
            v->noise = variance * (double)all;
            v->work = total;
            v->parts = parts;
        }
    }
}

/* Estimates the work of a candidate, from v->tally. */
static void estimate_work(const auto_facts *f, const run_plan *plan, const candidate *c,
                          verdict *v)
{
    size_t all = total_rows(f->target->data);
    double work = row_work(f->target, c->name), noise = (double)all * strata_squares(&v->tally);
    size_t n = plan->auto_batch ? best_batch(f->target, noise, work) : plan->batch;
    double noise_cost = n < all ? NOISE_COST * noise / (double)n : 0.0;
    v->c = c;
    v->batch = n;
    v->noise = noise;
    v->parts = (strata){0};
    v->work =
        observations_needed(f->target, noise_cost) * ((double)n * work + OBSERVATION_WORK);
    consider_strata(f, plan, work, v);
}

sbps_status auto_has_oblique_boundary(const posterior *target, const mode *reference,
                                      const metric *a, bool *out, sbps_error *err)
{
    warps *found;
    sbps_status status = profile_warps(target, reference, a, &found, err);
    *out = status == SBPS_OK && found && found->oblique;
    if (status == SBPS_OK) free(found);
    return status;
}

/* One line for the set-up report: the sampler chosen, and its estimated cost next to the
 * alternative. hmc: full-data HMC was chosen instead of plan->sampler; oblique: it would be
 * slow. */
static void print_reason(const posterior *u, run_plan *plan, double work, bool hmc,
                         bool oblique)
{
    double ratio = auto_hmc_work(u) / work; /* above 1: HMC is more expensive */
    double factor = ratio >= 1.0 ? ratio : 1.0 / ratio;
    int digits = factor < 10.0;
    const char *name = plan->sampler->name;
    if (oblique)
        decimal_print(plan->why, sizeof plan->why,
                      "%s: the data bound differences between parameters on one side only, "
                      "which makes hmc slow",
                      name);
    else if (hmc && ratio < 1.0)
        decimal_print(plan->why, sizeof plan->why,
                      "hmc: estimated to be %.*fx cheaper than %s here", digits, factor, name);
    else if (hmc)
        decimal_print(plan->why, sizeof plan->why,
                      "hmc: %s mixes slowly when a standard deviation of groups is near 0",
                      name);
    else if (ratio >= 1.0)
        decimal_print(plan->why, sizeof plan->why,
                      "%s: estimated to be %.*fx cheaper than hmc here", name, digits, factor);
    else
        decimal_print(plan->why, sizeof plan->why,
                      "%s, because of the options given; hmc is estimated to be %.*fx cheaper",
                      name, digits, factor);
}

/* True if coordinate j is the logarithm of a standard deviation of group effects. */
static bool is_sd_of_groups(const posterior *u, size_t j)
{
    model_coordinate own;
    return u->scale[j] == SCALE_LOG && u->model->parameters.coordinate(u->self, j, &own) &&
           own.option && !strcmp(own.option, "prior-sd");
}

/* True if the posterior of a standard deviation of groups may reach 0: its logarithm then has
 * an unbounded tail, which samplers with elliptic segments explore poorly. */
static sbps_status reaches_zero(const auto_facts *f, bool *out, sbps_error *err)
{
    const posterior *u = f->target;
    size_t d = u->dim;
    double widest = 0.0;
    *out = false;
    if (!u->model->row_model) return SBPS_OK;
    double *x = new_doubles(d);
    if (!x) return fail_memory(err);
    for (size_t j = 0; j < d; j++) {
        if (!is_sd_of_groups(u, j)) continue;
        memset(x, 0, d * sizeof *x);
        x[j] = 1.0;
        cholesky_solve(d, f->factor, x);
        widest = fmax(widest, x[j]);
    }
    free(x);
    *out = sqrt(widest) > LOG_SD_WIDE;
    return SBPS_OK;
}

/* The best candidate and the next; 17 KB, too large for a small stack. */
typedef struct {
    verdict best, next;
} comparison;

/* Finds the cheapest candidate. */
static sbps_status compare(const auto_facts *f, const run_plan *plan, const auto_influences *m,
                           comparison *c, sbps_error *err)
{
    c->best.work = INFINITY;
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        if (!auto_measured(m, i)) continue;
        sbps_status status = auto_tally(m, f->target->data, i, &c->next.tally, err);
        if (status != SBPS_OK) return status;
        estimate_work(f, plan, &candidates[i], &c->next);
        if (c->next.work < c->best.work) c->best = c->next;
    }
    return SBPS_OK;
}

/* Puts the cheapest candidate into the plan; creates its strata. */
static sbps_status apply_best(const auto_facts *f, run_plan *plan, const auto_influences *m,
                              const verdict *best, auto_choice *out, sbps_error *err)
{
    if (!best->c) return SBPS_OK;
    plan->control_variate = best->c->name;
    plan->batch = best->batch;
    plan->promised = best->work;
    bool cheaper = auto_hmc_work(f->target) < best->work, tail, oblique = false;
    sbps_status status = reaches_zero(f, &tail, err);
    if (status != SBPS_OK) return status;
    out->hmc = plan_may_take_hmc(f->options, plan) && (cheaper || tail);
    if (out->hmc && !tail)
        status = auto_has_oblique_boundary(f->target, f->reference, f->a, &oblique, err);
    if (status != SBPS_OK) return status;
    out->hmc = out->hmc && !oblique;
    print_reason(f->target, plan, best->work, out->hmc, oblique);
    if (out->hmc) return SBPS_OK;
    const float *influence = m->to.rows[best->c - candidates];
    out->tally = best->tally;
    if (best->parts.count > 1) {
        status = strata_create(&best->parts, f->target->data->local_rows, influence,
                               &out->parts, err);
        if (status != SBPS_OK) return status;
    }
    plan->minibatch = auto_minibatch(f, plan, out->parts, best->batch);
    return SBPS_OK;
}

sbps_status auto_tune(const auto_facts *f, run_plan *plan, auto_influences *m, auto_choice *out,
                      sbps_error *err)
{
    memset(out, 0, sizeof *out);
    if (!auto_applies(f->options, plan)) return SBPS_OK;
    const influence_point at = {f->reference->w, f->reference->w, f->factor};
    sbps_status status = SBPS_OK;
    if (!m->known)
        status = influence_applies(f->target) ? auto_measure_at(f->target, &at, m, err)
                                              : measure_at_points(f, m, err);
    if (status != SBPS_OK) return status;
    comparison *c = calloc(1, sizeof *c);
    if (!c) return fail_memory(err);
    status = compare(f, plan, m, c, err);
    if (status == SBPS_OK) status = apply_best(f, plan, m, &c->best, out, err);
    free(c);
    return status;
}

/* ---- the exact sampler `surrogate` ----
 *
 * The rows that a step evaluates can be estimated from their bounds: B = (sum of b_i) S, with S
 * over pairs of draws. The log likelihood ratio of a pair has a variance of about
 *
 *   v = 2 B E[D^2],   E[D^2] about 30 / (d (d + 2) (d + 4)),                                (3)
 *
 * where D is the part of its bound that a row reaches: twice the cube of a cosine. With b the
 * squared shift of the mean by third derivatives, effective samples per step were measured on
 * logistic regressions, d = 3 to 91, N = 1e3 to 1e6, as
 *
 *   0.5 / (1 + b + 0.1 v)                                                                   (4)
 *
 * within a sixth, for chains that start no further out than the normal. Work is counted as in
 * (2): a row evaluated by itself costs 30 numbers of x in addition to its own, a step 600 and
 * two products with matrices, and sorting the rows by their bounds, once, 15 per row. */

/* Numbers of x: of a step, of a row evaluated by itself, and of sorting a row. */
#define STEP_WORK 600.0
#define ROW_WORK  30.0
#define SORT_WORK 15.0
/* Effective samples of a usual run, including warm-up. Not the present goal, so that a resumed
 * run with another goal makes the same choice. */
#define USUAL_SAMPLES 1400.0
#define STEP_ESS      0.5 /* effective samples per step without noise, (4) */

bool auto_may_take_surrogate(const sbps_options *o, const run_plan *plan,
                             const posterior *target)
{
    const rows *data = target->data;
    return auto_applies(o, plan) && plan_may_take_hmc(o, plan) && o->warmup != 0 &&
           minibatch_facts(target).third_bounded && !data->storage.mapped &&
           !data->recompute_rows && data->local_rows <= UINT32_MAX;
}

double auto_surrogate_work(const posterior *target, double rows_touched, double steps)
{
    double d = (double)target->dim, row = rows_numbers(target->data) + ROW_WORK;
    return rows_touched * row + steps * (STEP_WORK + 2.0 * d * d);
}

double auto_promised(const posterior *target, const run_plan *plan)
{
    return plan->sampler->full ? auto_hmc_work(target) : plan->promised;
}

bool auto_surrogate_may_pay(const auto_facts *f, const run_plan *plan)
{
    double sort = SORT_WORK * (double)f->target->data->local_rows;
    double other = auto_promised(f->target, plan) * USUAL_SAMPLES;
    return f->a->kind->white && sort < other;
}

/* Steps per effective sample, the inverse of (4). */
static double steps_per_sample(const pair_cost *p, double d)
{
    double noise = 60.0 * p->drawn / (d * (d + 2.0) * (d + 4.0));
    return (1.0 + p->skew + 0.1 * noise) / STEP_ESS;
}

bool auto_take_surrogate(const auto_facts *f, const row_bounds *bounds, run_plan *plan,
                         run_plan *aside)
{
    const posterior *u = f->target;
    pair_cost p = row_bounds_cost(bounds, u->dim, u->data->local_rows);
    double steps = steps_per_sample(&p, (double)u->dim);
    double work = auto_surrogate_work(u, steps * p.rows, steps);
    if (!(work < auto_promised(u, plan))) return false;
    *aside = *plan;
    plan_take_surrogate(aside, plan);
    plan->promised = work;
    decimal_print(plan->why, sizeof plan->why,
                  "surrogate: estimated to be %.1fx cheaper than %s here",
                  auto_promised(u, aside) / work, aside->sampler->name);
    return true;
}
