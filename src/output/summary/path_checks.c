/* Checks of how the path was made: is the band above the slopes as often as its regression
 * predicts, and if not, which of the known causes applies; is the stated bias within its
 * budget. The limits are those at which the samplers' measured errors exceed the noise
 * (docs/samplers.md). Run files of earlier versions lack some of the numbers, which are then
 * NAN. */
#include "output/summary/run_checks.h"

#include <math.h>
#include <string.h>

#define VIOLATION_LIMIT  0.01  /* of proposals above the band, whatever was expected */
#define EXCESS_RATE      0.005 /* the same, where there are more than expected */
#define EXCESS_TIMES     3.0   /* violations over expected violations */
#define EXCESS_MIN       10.0  /* violations; fewer prove nothing */
#define EXCESS_Z         5.0   /* sds of a Poisson count */
#define ETA_RATIO        2.3   /* measured error of a mean over eta, at least */
#define WINDOWS_MIN      100.0 /* rows over rows of a batch */
#define REFRESH_MAX      1.5   /* refreshments per posterior sd of path; auto is at most 1 */
#define REFRESH_MIN      100.0 /* refreshments, where only they randomise the path */
#define REFERENCE_ESS    100.0 /* below it the mean itself is not known */
#define REFERENCE_LIMIT  1.0   /* posterior sd, root mean square over the directions */
#define MISSED_BIAS      4.0   /* sds of a mean per missed bounce per sd: 2 to 6 were seen */
#define BOUNCE_LIMIT     0.02  /* bounces per proposal */
#define PASSES_LIMIT     100.0 /* passes over the data per effective sample */
#define PASSES_EFFICIENT 10.0  /* the same, below which nothing is wasted */
#define EVENTS_LIMIT     100.0 /* bounces or proposals of a chain */
#define BIAS_ERRORS      2.0   /* standard errors that are added to the bias */

/* ---- bias ---- */

/* An unknown standard error counts as 0. */
static double or_zero(double error)
{
    return isnan(error) ? 0.0 : error;
}

/* The bias of the mean against the budget: as it is, and with its standard errors. */
static double bad_bias(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].bias;
    return fabs(*shown) - e->r->info.bias_budget;
}

static double bad_with_error(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].bias;
    return fabs(*shown) + BIAS_ERRORS * or_zero(e->parameters[j].bias_se) -
           e->r->info.bias_budget;
}

/* The relative bias of the sd that exceeds the budget beyond doubt: sds are less precise than
 * means, and matter less. */
static double bad_spread(const evidence *e, size_t j, double *shown)
{
    const sbps_parameter *p = &e->parameters[j];
    *shown = p->sd_bias;
    return fabs(*shown) - BIAS_ERRORS * or_zero(p->sd_bias_se) - e->r->info.bias_budget;
}

/* Is any parameter beyond the limit? */
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

bool over_budget(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message, "The stated bias is ");
    text_estimate(message, info->bias_estimate, info->bias_estimate_se);
    text_add(message, " posterior sd, the budget is %.3g", info->bias_budget);
    size_t length = message->length;
    text_add(message, "; it is exceeded for ");
    bool named = name_worst(e, bad_bias, message);
    if (!named) text_cut(message, length);
    return named || info->bias_estimate > info->bias_budget;
}

bool bias_uncertain(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message, "The stated bias is ");
    text_estimate(message, info->bias_estimate, info->bias_estimate_se);
    text_add(message,
             " posterior sd; with two standard errors it exceeds the budget of %.3g for ",
             info->bias_budget);
    bool over = info->bias_estimate > info->bias_budget || any(e, bad_bias);
    return name_worst(e, bad_with_error, message) && !over;
}

bool ranks_over_budget(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(
        message,
        "Using the rows of one of %.0f ranks at a time may shift means by %.2g posterior sd; "
        "the budget is %.3g",
        info->ranks, info->rank_bias, info->bias_budget);
    return info->ranks > 1.0 && info->rank_bias > info->bias_budget;
}

bool spreads_over_budget(const evidence *e, text *message)
{
    text_add(message,
             "By the run's own estimate, the relative error of the standard deviation is above "
             "%.3g for ",
             e->r->info.bias_budget);
    return name_worst(e, bad_spread, message);
}

bool bias_unknown(const evidence *e, text *message)
{
    const char *sampler = e->r->info.sampler;
    text_add(message, "This sampler%s%s%s does not estimate its bias", sampler ? " (" : "",
             sampler ? sampler : "", sampler ? ")" : "");
    text dropped = {0};
    bool adapting = metric_adapting(e, &dropped); /* has a finding of its own */
    text_free(&dropped);
    return isnan(e->r->info.bias_estimate) && !e->r->info.paper && !adapting;
}

/* ---- settings ---- */

/* The value of an option as the run file records it; "" where it does not. */
static const char *option(const evidence *e, const char *name)
{
    for (size_t i = 0; i < e->r->option_count; i++)
        if (!strcmp(e->r->options[i].name, name)) return e->r->options[i].value;
    return "";
}

/* Whether a refinement was off: by its option, or because --paper leaves it off. */
static bool is_switched_off(const evidence *e, const char *name)
{
    const char *value = option(e, name);
    return !strcmp(value, "off") || (e->r->info.paper && strcmp(value, "on") != 0);
}

/* Whether the sampler uses a band. */
static bool has_band(const evidence *e)
{
    return !isnan(e->r->info.band);
}

/* Whether gradients are estimated from mini-batches. */
static bool is_noisy(const evidence *e)
{
    return e->r->info.batch_size < e->r->info.rows;
}

/* ---- the run as a whole ---- */

bool interrupted(const evidence *e, text *message)
{
    text_add(message, "The run was interrupted before it had finished");
    return e->r->info.interrupted;
}

bool used_published_method(const evidence *e, text *message)
{
    text_add(message, "The run used the published method (--paper), which has no bias budget");
    return e->r->info.paper;
}

bool chains_short(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    bool bouncy = info->bounces > 0.0;
    double events = (bouncy ? info->bounces : info->proposals) / (double)e->r->chains;
    text_add(message, "The chains are short: %.0f %s each, at least %.0f are needed", events,
             bouncy ? "bounces" : "proposals", EVENTS_LIMIT);
    return events < EVENTS_LIMIT;
}

/* ---- violations ---- */

/* Are there many more violations than the regression expects, beyond chance? */
static bool in_excess(const result_info *info)
{
    double expected = info->expected_violations;
    return info->violations >= EXCESS_MIN && info->violations > EXCESS_TIMES * expected &&
           info->violations - expected > EXCESS_Z * sqrt(expected);
}

/* Whether violations do no harm: warm-up chose the width of an automatic band by the bounces
 * that were missed, not by how often it is exceeded, so the bias can be within the budget all
 * the same. */
static bool is_harmless(const evidence *e)
{
    const result_info *info = &e->r->info;
    bool automatic = !info->paper && !strcmp(option(e, "band"), "auto");
    return automatic && bias_within_budget(e);
}

/* An excess of violations that is frequent, or comes with too large a bias. */
static bool harmful_excess(const evidence *e)
{
    const result_info *info = &e->r->info;
    bool many = info->violations > EXCESS_RATE * info->proposals;
    return in_excess(info) && !is_harmless(e) && (many || !bias_within_budget(e));
}

/* Appends how many violations were expected, by the regression's normal distribution. */
static void add_expected(const result_info *info, text *message)
{
    double expected = info->expected_violations;
    if (isnan(expected)) return; /* a file of an older version */
    text_add(message, "; the regression expects ");
    if (expected < 0.5)
        text_add(message, "none in so many proposals");
    else
        text_add(message, "%.3g%%, and there are %.3g times as many",
                 100.0 * expected / info->proposals, info->violations / expected);
}

bool band_violated(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message,
             "Violations: in %.3g%% of the proposals (%.0f of %.0f) the slope was above the "
             "band of k "
             "= %.3g",
             100.0 * info->violations / info->proposals, info->violations, info->proposals,
             info->band);
    add_expected(info, message);
    bool many = info->violations > VIOLATION_LIMIT * info->proposals && !is_harmless(e);
    return has_band(e) && (many || harmful_excess(e));
}

bool bounces_missing(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message, "Bounces were missed: %.3g per posterior sd of path", info->eta);
    return has_band(e) && ETA_RATIO * info->eta > info->bias_budget;
}

bool last_batch_alone(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message,
             "The noise was estimated from the last mini-batch alone: %.3g%% of the proposals "
             "violate "
             "the band",
             100.0 * info->violations / info->proposals);
    add_expected(info, message);
    return has_band(e) && is_noisy(e) && is_switched_off(e, "pool-variance") && in_excess(info);
}

/* Not decidable where the noise was estimated from one batch alone. */
bool line_unfit(const evidence *e, text *message)
{
    text_add(message,
             "The slope is not linear along a segment, and the band does not allow for it");
    bool other_cause = is_noisy(e) && is_switched_off(e, "pool-variance");
    return has_band(e) && !other_cause && strcmp(option(e, "regression"), "gp") != 0 &&
           is_switched_off(e, "lack-of-fit") && harmful_excess(e);
}

/* A band at its maximum width is a finding only if the bias exceeds the budget. */
bool band_at_cap(const evidence *e, text *message)
{
    text_add(message,
             "The band has its maximum width, k = %.3g, and warm-up found it too narrow",
             e->r->info.band);
    return e->r->info.band_capped && !bias_within_budget(e);
}

/* ---- batches, proposals, reference point ---- */

bool proposals_wasted(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message, "Only %.3g%% of the proposals (%.0f of %.0f) became bounces",
             100.0 * info->bounces / info->proposals, info->bounces, info->proposals);
    bool efficient = rows_per_sample(info) < PASSES_EFFICIENT * info->rows;
    return info->bounces > 0.0 && info->bounces < BOUNCE_LIMIT * info->proposals && !efficient;
}

bool batch_too_small(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    double passes = rows_per_sample(info) / info->rows;
    text_add(message, "Mini-batches of %.0f row%s are noisy: ", info->batch_size,
             info->batch_size == 1.0 ? "" : "s");
    if (!isnan(info->band)) text_add(message, "the band k is %.3g, and ", info->band);
    text_add(message, "an effective sample takes ");
    text_measure(message, passes);
    text_add(message, " passes over the data");
    return info->batch_size < info->rows && passes > PASSES_LIMIT;
}

bool few_windows(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(
        message,
        "Mini-batches are windows of consecutive rows, and the table has only %.3g of them",
        info->rows / info->batch_size);
    return has_band(e) && is_noisy(e) && info->minibatch &&
           !strcmp(info->minibatch, "window") && info->batch_size > 1.0 &&
           info->rows < WINDOWS_MIN * info->batch_size;
}

bool reference_far(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(
        message,
        "The reference point of the control variate is %.3g posterior sd away from the mean "
        "(root mean square over all directions)",
        info->reference_distance);
    return info->reference_distance > REFERENCE_LIMIT && info->min_ess >= REFERENCE_ESS;
}

/* ---- warm-up, metric, refreshment ---- */

bool warmup_too_short(const evidence *e, text *message)
{
    text_add(message, "Warm-up ended before the chains were stationary");
    return e->r->info.unsettled;
}

bool metric_adapting(const evidence *e, text *message)
{
    const char *metric = e->r->info.metric;
    text_add(message, "The metric kept adapting after warm-up (--adapt-forever)");
    return metric && !strcmp(metric, "adaptive") && !strcmp(option(e, "adapt-forever"), "true");
}

bool refreshed_too_often(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(
        message,
        "The path was refreshed %.0f times but bounced only %.0f times: %.3g refreshments per "
        "posterior sd of path",
        info->refreshments, info->bounces, info->refreshments_per_sd);
    return info->refreshments > info->bounces && info->refreshments_per_sd > REFRESH_MAX;
}

bool refreshed_too_rarely(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(
        message,
        "Only refreshments randomise this path, since its gradients have no noise, and it was "
        "refreshed %.0f times in all",
        info->refreshments);
    return info->needs_refreshment && info->refreshments < REFRESH_MIN;
}

/* Appends the influential rows, or groups, that the run recorded; it records one kind of
 * them. */
static bool has_influential(const evidence *e, bool groups, text *message)
{
    const char *names = e->r->info.influential_rows;
    if (!names || !*names || groups != !strncmp(names, "group ", 6)) return false;
    text_add(message, "Single %s dominate the result: %s", groups ? "groups" : "rows", names);
    return true;
}

bool influential_rows(const evidence *e, text *message)
{
    return has_influential(e, false, message);
}

bool influential_groups(const evidence *e, text *message)
{
    return has_influential(e, true, message);
}

bool rare_rows_missed(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    double could = MISSED_BIAS * info->eta_unmet;
    text_add(message, "Mini-batches contain the most influential rows too rarely; if this run "
                      "never used them, "
                      "means may be off by about ");
    text_measure(message, could);
    text_add(message, " posterior sd, which the stated bias does not include");
    return could > info->bias_budget;
}
