/* The summary for people: some lines about the run, then a table. */
#include "output/summary/grid.h"
#include "output/summary/summary.h"

#include <math.h>

static const char *or_unknown(const char *value)
{
    return value ? value : "unknown";
}

static void add_setting(text *t, const result *r)
{
    const result_info *info = &r->info;
    text_add(t, "model         ");
    text_name(t, or_unknown(info->model));
    if (info->target && *info->target) {
        text_add(t, ", target ");
        text_name(t, info->target);
    }
    text_add(t, "\nrows          ");
    text_count(t, info->rows);
    text_add(t, "\nparameters    %zu\nsampler       %s", r->dim, or_unknown(info->sampler));
    if (info->paper) text_add(t, " as published");
    text_add(t, ", control variate %s, metric %s\n", or_unknown(info->control_variate),
             or_unknown(info->metric));
    text_add(t, "chains        %zu x %zu draws, seed %.0f\n", r->chains, r->draws, info->seed);
    if (info->ranks > 1.0) {
        text_add(t, "ranks         %.0f", info->ranks);
        if (!isnan(info->rank_bias)) {
            text_add(t, ", one at a time, for which means may be off by ");
            text_measure(t, info->rank_bias);
            text_add(t, " posterior sd");
        }
        text_add(t, "\n");
    }
    text_add(t, "batch size    ");
    text_count(t, info->batch_size);
    text_add(t, " rows (%s)\n", or_unknown(info->minibatch));
    if (isnan(info->band)) return; /* the sampler has none */
    text_add(t, "band k        ");
    text_measure(t, info->band);
    text_add(t, "\n");
}

static void add_outcome(text *t, const result_info *info)
{
    text_add(t, "stated bias   ");
    text_estimate(t, info->bias_estimate, info->bias_estimate_se);
    text_add(t, " posterior sd (budget ");
    text_measure(t, info->bias_budget);
    text_add(t, ")\nmin ESS       ");
    text_count(t, info->min_ess);
    if (info->ess_goal > 0.0) text_add(t, " (goal %.0f)", info->ess_goal);
    if (!isnan(info->pareto_k))
        text_add(t, "\nPareto k-hat  %.2f (above 0.7 weights are not to be trusted)",
                 info->pareto_k);
    text_add(t, "\nrows touched  ");
    text_count(t, info->rows_touched);
    text_add(t, ", per effective sample ");
    text_count(t, rows_per_sample(info));
    text_add(t, "\nseconds       set-up %.3g, warm-up %.3g, sampling %.3g\n",
             info->seconds_setup, info->seconds_warmup, info->seconds_sampling);
    if (info->interrupted) text_add(t, "note          the run was interrupted\n");
}

void write_table(text *t, const result *r, const sbps_parameter *parameters)
{
    add_setting(t, r);
    add_outcome(t, &r->info);
    text_add(t, "\n");
    grid_table(t, &(grid){PARAMETER_GRID(parameters, r->dim)});
}
