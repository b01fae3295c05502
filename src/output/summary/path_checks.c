/* Checks of how a run was flown: is its band above the slopes as often as its regression says, and
 * if not, which of the known causes was at work? The thresholds are those at which the samplers'
 * measured errors leave the noise (docs/samplers.md). */
#include "output/summary/run_checks.h"

#include <math.h>
#include <string.h>

#define VIOLATION_LIMIT 0.01  /* share of proposals above the band, whatever was expected */
#define EXCESS_RATE     0.005 /* the same when more than expected */
#define EXCESS_TIMES    3.0   /* violations over those expected */
#define EXCESS_MIN      10.0  /* violations; fewer say nothing */
#define EXCESS_Z        5.0   /* sds of a Poisson count */
#define ETA_RATIO       2.3 /* worst mean error over eta, at least, wherever it was measured */
#define WINDOWS_MIN     100.0 /* rows per batch row */
#define REFRESH_MAX     1.5   /* refreshments per posterior sd of flight; auto is at most 1 */
#define REFRESH_MIN     100.0 /* refreshments of all chains, where nothing else turns the path */
#define REFERENCE_ESS   100.0 /* below it the mean itself is not known */
#define REFERENCE_LIMIT 1.0   /* posterior sd, root mean square over the directions */

/* "" when the file does not say. */
static const char *option(const evidence *e, const char *name)
{
    for (size_t i = 0; i < e->r->option_count; i++)
        if (!strcmp(e->r->options[i].name, name)) return e->r->options[i].value;
    return "";
}

static bool is_off(const evidence *e, const char *name)
{
    const char *value = option(e, name);
    return !strcmp(value, "off") || (e->r->info.paper && strcmp(value, "on") != 0);
}

static bool has_band(const evidence *e)
{
    return !isnan(e->r->info.band);
}

static bool is_noisy(const evidence *e)
{
    return e->r->info.batch_size < e->r->info.rows;
}

/* ---- violations ---- */

/* Many times more of them than the regression expects, and not by chance. */
static bool in_excess(const result_info *info)
{
    double expected = info->expected_violations;
    return info->violations >= EXCESS_MIN && info->violations > EXCESS_TIMES * expected &&
           info->violations - expected > EXCESS_Z * sqrt(expected);
}

/* A band that warm-up made so wide that the bias fits the budget may be violated more often than a
 * normal law says and do no harm: it was chosen by what was missed. */
static bool is_harmless(const evidence *e)
{
    const result_info *info = &e->r->info;
    bool automatic = !info->paper && !strcmp(option(e, "band"), "auto");
    return automatic && bias_within_budget(e);
}

static bool harmful_excess(const evidence *e)
{
    const result_info *info = &e->r->info;
    bool many = info->violations > EXCESS_RATE * info->proposals;
    return in_excess(info) && !is_harmless(e) && (many || !bias_within_budget(e));
}

static void add_expected(const result_info *info, text *seen)
{
    double expected = info->expected_violations;
    if (isnan(expected)) return; /* a file of an older version */
    text_add(seen, ", where the regression expects ");
    if (expected < 0.5)
        text_add(seen, "none in so many");
    else
        text_add(seen, "%.3g%%: %.3g times as many", 100.0 * expected / info->proposals,
                 info->violations / expected);
}

bool band_violated(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen,
             "Violations: %.3g%% of the proposals (%.0f of %.0f) found a slope above the band "
             "of k = %.3g",
             100.0 * info->violations / info->proposals, info->violations, info->proposals,
             info->band);
    add_expected(info, seen);
    bool many = info->violations > VIOLATION_LIMIT * info->proposals && !is_harmless(e);
    return has_band(e) && (many || harmful_excess(e));
}

bool bounces_missing(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(
        seen,
        "Bounces are missing: %.3g of them per posterior sd of flight should have happened "
        "and did not",
        info->eta);
    return has_band(e) && ETA_RATIO * info->eta > info->bias_budget;
}

bool last_batch_alone(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(
        seen,
        "The noise was judged by the last mini-batch alone: %.3g%% of the proposals violate "
        "the band",
        100.0 * info->violations / info->proposals);
    add_expected(info, seen);
    return has_band(e) && is_noisy(e) && is_off(e, "pool-variance") && in_excess(info);
}

/* Under noise judged by one batch alone nothing can be said about the line. */
bool line_unfit(const evidence *e, text *seen)
{
    text_add(seen, "The slope does not follow a straight line along a flight, and the band "
                   "does not allow for it");
    bool other_cause = is_noisy(e) && is_off(e, "pool-variance");
    return has_band(e) && !other_cause && strcmp(option(e, "regression"), "gp") != 0 &&
           is_off(e, "lack-of-fit") && harmful_excess(e);
}

/* Judged by what it did: a wide band that keeps to the budget is only wide. */
bool band_at_cap(const evidence *e, text *seen)
{
    text_add(seen, "The band is as wide as it can be, k = %.3g, and warm-up wanted more",
             e->r->info.band);
    return e->r->info.band_capped && !bias_within_budget(e);
}

/* ---- what was looked at ---- */

bool few_windows(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen,
             "Mini-batches are windows of consecutive rows, and the table holds only %.3g of "
             "them",
             info->rows / info->batch_size);
    return has_band(e) && is_noisy(e) && info->minibatch &&
           !strcmp(info->minibatch, "window") && info->batch_size > 1.0 &&
           info->rows < WINDOWS_MIN * info->batch_size;
}

bool reference_far(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen,
             "The reference point of the control variate lies %.3g posterior sd from the mean "
             "(root mean square over all directions)",
             info->reference_distance);
    return info->reference_distance > REFERENCE_LIMIT && info->min_ess >= REFERENCE_ESS;
}

/* ---- warm-up, metric, refreshment ---- */

bool warmup_too_short(const evidence *e, text *seen)
{
    text_add(seen, "Warm-up ended before the chains had settled");
    return e->r->info.unsettled;
}

bool metric_adapting(const evidence *e, text *seen)
{
    const char *metric = e->r->info.metric;
    text_add(seen, "The metric went on adapting after warm-up (--adapt-forever)");
    return metric && !strcmp(metric, "adaptive") && !strcmp(option(e, "adapt-forever"), "true");
}

bool refreshed_too_often(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen,
             "The path was refreshed %.0f times but bounced only %.0f times: %.3g refreshments "
             "per posterior sd of flight",
             info->refreshments, info->bounces, info->refreshments_per_sd);
    return info->refreshments > info->bounces && info->refreshments_per_sd > REFRESH_MAX;
}

bool refreshed_too_rarely(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(
        seen,
        "Nothing but refreshment turns this path off its course (gradients have no noise), "
        "and it was refreshed %.0f times in all",
        info->refreshments);
    return info->needs_refreshment && info->refreshments < REFRESH_MIN;
}

/* Those that are told are rows, or are groups. */
static bool has_influential(const evidence *e, bool groups, text *seen)
{
    const char *names = e->r->info.influential_rows;
    if (!names || !*names || groups != !strncmp(names, "group ", 6)) return false;
    text_add(seen, "Single %s rule the answer: %s", groups ? "groups" : "rows", names);
    return true;
}

bool rows_rule(const evidence *e, text *seen)
{
    return has_influential(e, false, seen);
}

bool groups_rule(const evidence *e, text *seen)
{
    return has_influential(e, true, seen);
}

/* Means were off by two to six posterior sd for each missing bounce per sd. */
#define UNMET_BIAS 4.0

bool rows_unmet(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    double could = UNMET_BIAS * info->eta_unmet;
    text_add(seen, "The batches leave it to chance whether the loudest rows are met; where "
                   "they are not, means "
                   "may be off by about ");
    text_measure(seen, could);
    text_add(seen, " posterior sd, which the stated bias does not know");
    return could > info->bias_budget;
}
