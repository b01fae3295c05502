/* Stopping rules: the first one met stops. */
#include "run/run.h"

#include <math.h>

static double rows_touched(const sbps_run *run)
{
    double sum = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) sum += (double)run->chains[i].b.state->rows;
    return sum;
}

bool stop_now(const sbps_run *run, double *share)
{
    const sbps_options *o = run->options;
    *share = 0.0;
    if (run->plan.ess_rule)
        *share = fmax(*share, moments_min_ess(run->moments_of, run->chain_count) / o->ess);
    if (run->plan.epochs_rule) {
        double epochs = rows_touched(run) / (double)run->table->data->n;
        *share = fmax(*share, epochs / o->epochs);
    }
    if (run->plan.seconds_rule)
        *share = fmax(*share,
                      (run->state.seconds_warmup + run->state.seconds_sampling) / o->seconds);
    return *share >= 1.0;
}
