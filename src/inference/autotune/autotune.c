/* What `auto` means: control variate, rows a batch and sampler, by work counted and never by time,
 * so that a seed decides.
 *
 * The mini-batch noise that a control variate leaves is the sum over all rows of what each makes at points
 * and along directions of the posterior (posterior/full/influence.c):
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
 * N rows; of G groups 1 + 120/G times as many, for few of them leave the logarithm of an sd a long tail; flights
 * take 1 + 60/G times as many looks (measured with one and two effects a level, G = 12 to 300). Where few rows
 * make most of the noise, strata of rows of like influence (posterior/minibatch/strata.c) leave less of it, down to single
 * rows that are in every batch. Warm-up then says how far (2) was wrong (replan.c). */
#include "inference/autotune/autotune.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "inference/options/target.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBSERVATIONS     9.0
#define NOISE_COST       7.0
#define STRATA_COST      4.0 /* without long tails the band is narrower */
#define OBSERVATION_WORK 320.0
#define PART_WORK        40.0  /* of each stratum */
#define HMC_PASSES       5.5   /* at d = 20 */
#define FEW_BY_HMC       120.0 /* groups, */
#define FEW_BY_SEGMENTS  60.0  /* as few as make an effective sample twice as dear */
#define BAND_USUAL       4.0   /* k */
#define LOG_SD_WIDE      0.35  /* posterior sd of the log of a sd */
#define MISSED_FRACTION  0.5   /* of the bounces that may be missed */
#define BATCH_MIN        ((size_t)4)
#define BATCH_STEP       ((size_t)4)

/* Slopes that one row's slope costs under each control variate: a model that is a predictor's or expands keeps
 * numbers of each row, another one is asked again. */
typedef struct {
    const char *name;
    double general_cost;
} candidate;

static const candidate candidates[] = {{"none", 1.0}, {"gradient", 2.0}, {"hessian", 3.0}};

const char *auto_candidate(size_t order)
{
    return candidates[order].name;
}

size_t auto_order(const char *control_variate)
{
    size_t i = 0;
    while (strcmp(candidates[i].name, control_variate)) i++;
    return i;
}

bool auto_applies(const sbps_options *o, const run_plan *p)
{
    bool rowless = p->model->facts.rowless;
    return !o->paper && !rowless && p->sampler->curve;
}

/* ---- what it costs ---- */

/* Numbers of x that one row's slope multiplies. */
static double row_work(const posterior *u, const char *control_variate)
{
    if (u->model->facts.regression) return rows_numbers(u->data);
    size_t order = auto_order(control_variate);
    double d = (double)u->dim, slope = u->model->rows.cost ? u->model->rows.cost(u->self) : d;
    if (u->model->rows.expand) return slope + (order == 0 ? 0.0 : order == 1 ? d : d + d * d);
    return candidates[order].general_cost * slope;
}

static size_t best_batch(const posterior *u, double noise, double work)
{
    double n = sqrt(NOISE_COST * noise * OBSERVATION_WORK / work);
    size_t steps = (size_t)smaller(n / BATCH_STEP + 0.5, 1e9), rounded = steps * BATCH_STEP;
    return plan_batch_max(u->data, rounded < BATCH_MIN ? BATCH_MIN : rounded);
}

/* How much dearer the tails that few groups leave make an effective sample. */
static double few_groups(const posterior *u, double few)
{
    return u->model->row_model ? 1.0 + few / (double)u->data->local_rows : 1.0;
}

/* (2), first half: of what the noise costs. */
static double observations_needed(const posterior *u, double noise_cost)
{
    return OBSERVATIONS * sqrt((double)u->dim) * (1.0 + noise_cost) *
           few_groups(u, FEW_BY_SEGMENTS);
}

double auto_hmc_work(const posterior *target)
{
    double passes = HMC_PASSES * pow((double)target->dim / 20.0, 0.25);
    return passes * few_groups(target, FEW_BY_HMC) * (double)total_rows(target->data) *
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

typedef struct {
    const candidate *c;
    size_t batch;
    double noise; /* c1 */
    double work;
    strata parts; /* count 0: rows are all alike */
    strata_tally tally;
} verdict;

/* Rows that lie beyond any band when they are met are missed at the rate of their influence, however wide
 * the band; beyond their share of the budget they count against the batches that leave them to chance. */
static double dearer_by_misses(const sbps_options *o, const strata_tally *tally,
                               const strata *parts, size_t n, double variance)
{
    double width = AUTO_SLOPE + BAND_USUAL * sqrt(variance);
    double limit = MISSED_FRACTION * MISSING_FRACTION * o->bias_budget;
    return larger(strata_beyond(tally, parts, n, width) / limit, 1.0);
}

/* Do strata make it cheaper? Batches of n then have the noise of strata_variance. */
static void try_strata(const auto_facts *f, const run_plan *plan, double work, verdict *v)
{
    const strata_tally *tally = &v->tally;
    size_t n = f->target->data->local_rows;
    bool requested = !strcmp(f->options->minibatch, "strata");
    /* ranks would have strata of their own, and of lean tables nobody knows where a row belongs */
    bool none = f->target->data->partition || f->target->data->recompute_rows;
    bool open = !none && (requested || (plan->auto_batch && is_auto(f->options->minibatch)));
    double noise = v->noise / (double)v->batch;
    if (open && v->batch < n)
        v->work *= dearer_by_misses(f->options, tally, NULL, v->batch, noise);
    if (requested) v->work = DBL_MAX; /* what is left when rows are all alike */
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
                total *= dearer_by_misses(f->options, tally, &parts, take, variance);
            if (!(total < v->work)) continue;
            v->batch = take;
            v->noise = variance * (double)all;
            v->work = total;
            v->parts = parts;
        }
    }
}

/* Fills all of *v but its tally, which it is judged by. */
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
    try_strata(f, plan, work, v);
}

static void print_reason(const posterior *u, run_plan *plan, const verdict *v, const char *hmc)
{
    decimal_print(plan->why, sizeof plan->why,
                  "about %.2g rows' work per effective sample, hmc about %.2g%s",
                  auto_in_rows(u, v->work), auto_in_rows(u, auto_hmc_work(u)), hmc);
}

static bool is_sd_of_groups(const posterior *u, size_t j)
{
    model_coordinate own;
    return u->scale[j] == SCALE_LOG && u->model->parameters.coordinate(u->self, j, &own) &&
           own.option && !strcmp(own.option, "prior-sd");
}

/* Does the posterior of a sd of groups reach down to 0? In its logarithm that is a tail without an end, in which flights
 * along orbits of the normal are lost. */
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

/* What is compared, some 17 KB of it: not for a small stack. */
typedef struct {
    verdict best, next;
} comparison;

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

/* The cheapest candidate; its strata, where it has some. */
static sbps_status apply_best(const auto_facts *f, run_plan *plan, const auto_influences *m,
                              const verdict *best, auto_choice *out, sbps_error *err)
{
    if (!best->c) return SBPS_OK;
    plan->control_variate = best->c->name;
    plan->batch = best->batch;
    plan->promised = best->work;
    bool cheaper = auto_hmc_work(f->target) < best->work, tail;
    sbps_status counted = reaches_zero(f, &tail, err);
    if (counted != SBPS_OK) return counted;
    out->hmc = plan_may_take_hmc(f->options, plan) && (cheaper || tail);
    print_reason(f->target, plan, best,
                 !out->hmc ? ""
                 : cheaper
                     ? ": hmc it is"
                     : "; a sd of groups may be 0, and flights are lost there: hmc it is");
    if (out->hmc) return SBPS_OK;
    const float *influence = m->to.rows[best->c - candidates];
    out->tally = best->tally;
    if (best->parts.count > 1) {
        sbps_status status = strata_create(&best->parts, f->target->data->local_rows, influence,
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
    sbps_status status = auto_measure(f, m, err);
    if (status != SBPS_OK) return status;
    comparison *c = calloc(1, sizeof *c);
    if (!c) return fail_memory(err);
    status = compare(f, plan, m, c, err);
    if (status == SBPS_OK) status = apply_best(f, plan, m, &c->best, out, err);
    free(c);
    return status;
}
