/* Rows a step looks at are known from their bounds before any is: B = (sum of b_i) S, S over pairs of draws. The
 * logarithm of what the rows say of a pair has a variance of about
 *
 *   v = 2 B E[D^2],   E[D^2] about 30 / (d (d + 2) (d + 4)),                                          (1)
 *
 * D being the share of its bound that a row makes use of: the cube of a cosine, twice. With b the square of how far third
 * derivatives move the mean, effective samples a step were measured on logistic regressions, d = 3 to 91, N = 1e3
 * to 1e6, as
 *
 *   0.5 / (1 + b + 0.1 v)                                                                             (2)
 *
 * within a sixth, where chains are started no deeper than the normal says. Work is counted as in auto.c: a row that
 * is drawn for itself takes 30 numbers of x beside its own, a step 600 and two products with matrices, and sorting
 * rows by their bounds, once, 15 a row. */
#include "inference/autotune/surrogate_choice.h"

#include "core/decimal.h"

#define STEP_WORK 600.0
#define ROW_WORK  30.0
#define SORT_WORK 15.0
/* Effective samples' work of flights, warm-up with it, for the ESS that is usual: with another goal a run that is resumed
 * chooses as it did before. */
#define USUAL_SAMPLES 1400.0
#define STEP_ESS      0.5

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

/* (2) */
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
                  "exact: about %.2g rows per effective sample, %.2g rows' work; %s about "
                  "%.2g, hmc about %.2g",
                  steps * p.rows, auto_in_rows(u, work), aside->sampler->name,
                  auto_in_rows(u, auto_promised(u, aside)), auto_in_rows(u, auto_hmc_work(u)));
    return true;
}
