/* Stopping rules: the first one met stops. An ESS counts only when the stored draws agree on it:
 * the rank-normalised R-hat of every parameter must be at most RHAT_GOAL, or the ESS so many
 * times its goal that waiting longer would not help. Chains in separate modes never agree: when
 * each has its share of RHAT_WAIT times the goal by itself, the run ends and says so. */
#include "estimate/diagnostics.h"
#include "run/run.h"

#include <math.h>

#define RHAT_GOAL    1.01
#define RHAT_WAIT    4.0 /* times the ESS goal, at most */
#define RHAT_APART   1.5 /* of the path: chains that do not visit each other */
#define RHAT_RECHECK 1.1 /* times the ESS of the last look */

static double rows_touched(const sbps_run *run)
{
    double sum = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) sum += (double)run->chains[i].b.state->rows;
    return sum;
}

static double bounded_share(const sbps_run *run)
{
    const sbps_options *o = run->options;
    double share = 0.0, pass = (double)run->table->data->n;
    if (run->plan.epochs_rule) share = rows_touched(run) / pass / o->epochs; /* all chains */
    if (run->plan.seconds_rule)
        share =
            fmax(share, (run->state.seconds_warmup + run->state.seconds_sampling) / o->seconds);
    return share;
}

static double ess_share(const sbps_run *run)
{
    if (!run->plan.ess_rule) return 0.0;
    return moments_min_ess(run->moments_of, run->chain_count) / run->options->ess;
}

double stop_share(const sbps_run *run)
{
    double ess = ess_share(run);
    if (run->state.phase == PHASE_SAMPLING) ess = fmin(ess, 0.99);
    return fmin(fmax(bounded_share(run), ess), 1.0);
}

/* Largest R-hat of the draws of all parameters; INFINITY when it cannot be told. */
static double largest_rhat(const sbps_run *run)
{
    size_t d = run->target->dim, count = run->chain_count, least = SIZE_MAX;
    double worst = 0.0;
    for (size_t c = 0; c < count; c++)
        if (run->chains[c].d.state->count < least) least = run->chains[c].d.state->count;
    double *x = new_doubles(count * least);
    if (!x) return INFINITY;
    for (size_t j = 0; j < d && worst <= RHAT_GOAL; j++) {
        draw_summary s;
        for (size_t c = 0; c < count; c++)
            for (size_t i = 0; i < least; i++) x[c * least + i] = run->chains[c].d.w[i * d + j];
        sbps_status status = summarize_draws(count, least, x, &s, NULL);
        bool known = status == SBPS_OK && !isnan(s.rhat);
        worst = known ? fmax(worst, s.rhat) : INFINITY;
    }
    free(x);
    return worst;
}

bool chains_apart(const sbps_run *run, double ess)
{
    double own = 0.0, rhat = 0.0;
    for (size_t i = 0; i < run->chain_count; i++)
        own += moments_min_ess(&run->moments_of[i], 1);
    for (size_t j = 0; j < run->target->dim; j++)
        rhat = fmax(rhat, moments_summarize(run->moments_of, run->chain_count, j).rhat);
    return rhat > RHAT_APART && own >= RHAT_WAIT * ess;
}

bool stop_now(sbps_run *run)
{
    double ess = ess_share(run);
    if (bounded_share(run) >= 1.0) return true;
    if (run->plan.ess_rule && chains_apart(run, run->options->ess)) return true;
    if (ess < fmax(1.0, run->state.next_look)) return false;
    run->state.next_look = RHAT_RECHECK * ess;
    return ess >= RHAT_WAIT || largest_rhat(run) <= RHAT_GOAL;
}
