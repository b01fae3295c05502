/* Checks of what a run states of its own bias. A bias is within the budget when it is so together with
 * two of its standard errors; files of earlier versions have none. */
#include "output/summary/run_checks.h"

#include <math.h>

#define ERRORS 2.0

static double or_none(double error)
{
    return isnan(error) ? 0.0 : error;
}

static double bad_bias(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].bias;
    return fabs(*shown) - e->r->info.bias_budget;
}

static double bad_with_error(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].bias;
    return fabs(*shown) + ERRORS * or_none(e->parameters[j].bias_se) - e->r->info.bias_budget;
}

static double bad_spread(const evidence *e, size_t j, double *shown)
{
    const sbps_parameter *p = &e->parameters[j];
    *shown = p->sd_bias;
    return fabs(*shown) - ERRORS * or_none(p->sd_bias_se) - e->r->info.bias_budget;
}

static bool any(const evidence *e, badness *of)
{
    double shown;
    for (size_t j = 0; j < e->r->dim; j++)
        if (of(e, j, &shown) > 0.0) return true;
    return false;
}

bool bias_within_budget(const evidence *e)
{
    const result_info *info = &e->r->info;
    return info->bias_estimate <= info->bias_budget && !any(e, bad_with_error);
}

bool over_budget(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen, "The stated bias, in posterior sd, is ");
    text_estimate(seen, info->bias_estimate, info->bias_estimate_se);
    text_add(seen, ", the budget is %.3g", info->bias_budget);
    size_t length = seen->length;
    text_add(seen, "; above it are ");
    bool named = name_worst(e, bad_bias, seen);
    if (!named) text_cut(seen, length);
    return named || info->bias_estimate > info->bias_budget;
}

bool bias_uncertain(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen, "The stated bias, in posterior sd, is ");
    text_estimate(seen, info->bias_estimate, info->bias_estimate_se);
    text_add(seen, "; with two standard errors it leaves the budget of %.3g for ",
             info->bias_budget);
    bool over = info->bias_estimate > info->bias_budget || any(e, bad_bias);
    return name_worst(e, bad_with_error, seen) && !over;
}

bool ranks_over_budget(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen,
             "Rows of one of %.0f ranks at a time may move means by %.2g posterior sd, the "
             "budget is %.3g",
             info->ranks, info->rank_bias, info->bias_budget);
    return info->ranks > 1.0 && info->rank_bias > info->bias_budget;
}

/* What is beyond doubt: sds are known worse than means, and matter less. */
bool spreads_over_budget(const evidence *e, text *seen)
{
    text_add(seen,
             "By the run's own estimate standard deviations are off by more than a share of "
             "%.3g for ",
             e->r->info.bias_budget);
    return name_worst(e, bad_spread, seen);
}

bool bias_unknown(const evidence *e, text *seen)
{
    const char *sampler = e->r->info.sampler;
    text_add(seen, "This sampler%s%s%s cannot say how biased it is", sampler ? " (" : "",
             sampler ? sampler : "", sampler ? ")" : "");
    text dropped = {0};
    bool adapting = metric_adapting(e, &dropped); /* has a finding of its own */
    text_free(&dropped);
    return isnan(e->r->info.bias_estimate) && !e->r->info.paper && !adapting;
}
