/* Checks of the draws, of their summaries and of the priors.
 *
 * The limits of R-hat (1.01) and of the ESS (400) are those of Vehtari, Gelman, Simpson,
 * Carpenter, Buerkner (2021), Bayesian Analysis 16, 667-718; the others are from experience
 * with these samplers.
 *
 * Chains in separate modes. The draws of a parameter fall into ranges that no chain crosses:
 *
 *   max over the chains of one group  <  min over those of the next,                       (1)
 *
 * and every chain is stationary (the means of its halves differ by less than its own sd). Then
 * the posterior has several modes or chains are stuck; R-hat alone does not distinguish this
 * from slow mixing.
 *
 * Priors against data. The likelihood of a parameter, with the priors of the others but without
 * its own, follows from its posterior mean m and sd s and its prior's m_0 and s_0 as if all
 * were normal:
 *
 *   1/s_l^2 = 1/s^2 - 1/s_0^2,   m_l = (m/s^2 - m_0/s_0^2) s_l^2                   (2) */
#include "output/summary/run_checks.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RHAT_LIMIT 1.01
#define ESS_LIMIT  400.0
#define DRAWS_LIMIT                                                                            \
    300.0 /* ESS of stored draws: a path with an ESS of 400 may store a little less */
#define SQUARE_LIMIT  0.1 /* ESS of squares over ESS of means */
#define MCSE_LIMIT    0.1 /* Monte Carlo error, in posterior sd */
#define MAX_NAMED     5   /* parameters that a message names */
#define RANGES_NAMED  4   /* ranges that a message names */
#define DRAWS_MIN     50  /* per chain, for (1) */
#define UNINFORMATIVE 0.1 /* s^2/s_l^2: below it (2) is a difference of nearly equal numbers */
#define FAR_APART     5.0 /* (m_l - m_0) / sqrt(s_l^2 + s_0^2): not explained by chance */
#define MOVED         0.5 /* |m - m_l| / s: smaller effects of a prior are not reported */
#define PRIOR_SHARE   0.9 /* of the posterior variance, due to the prior alone */

/* ---- naming parameters ---- */

double required_ess(const result_info *info)
{
    return info->ess_goal > ESS_LIMIT ? info->ess_goal : ESS_LIMIT;
}

/* The index of the worst parameter after (worse_than, after) in order of badness, then of
 * index; e->count when none is left. after SIZE_MAX: the worst of all, even if infinite. */
static size_t next_worst(const evidence *e, badness *of, double worse_than, size_t after)
{
    size_t worst = e->count;
    double largest = 0.0, shown;
    for (size_t j = 0; j < e->count; j++) {
        double b = of(e, j, &shown);
        bool left = after == SIZE_MAX || b < worse_than || (b == worse_than && j > after);
        if (!(b > largest) || !left) continue;
        worst = j;
        largest = b;
    }
    return worst;
}

/* Parameters that are beyond the limit of a check. */
static size_t count_bad(const evidence *e, badness *of)
{
    size_t count = 0;
    double shown;
    for (size_t j = 0; j < e->count; j++) count += of(e, j, &shown) > 0.0;
    return count;
}

bool name_worst(const evidence *e, badness *of, text *message)
{
    size_t count = count_bad(e, of), last = 0;
    double worse_than = INFINITY, shown;
    if (count == 0) return false;
    text_add(message, "%zu of %zu parameters%s", count, e->count,
             count > 1 ? ", worst first:" : ":");
    for (size_t k = 0; k < count && k < MAX_NAMED; k++) {
        size_t j = next_worst(e, of, worse_than, k ? last : SIZE_MAX);
        worse_than = of(e, j, &shown);
        last = j;
        text_add(message, "%s ", k ? "," : "");
        text_name(message, e->parameters[j].name);
        if (!isnan(shown)) text_add(message, " (%.4g)", shown);
    }
    if (count > MAX_NAMED) text_add(message, " and %zu more", count - MAX_NAMED);
    return true;
}

/* ---- R-hat, ESS, errors ---- */

static double bad_undefined(const evidence *e, size_t j, double *shown)
{
    const sbps_parameter *p = &e->parameters[j];
    *shown = NAN;
    return isnan(p->rhat) || !isfinite(p->mean) || !isfinite(p->sd) ? 1.0 : 0.0;
}

bool not_computable(const evidence *e, text *message)
{
    text_add(message, "R-hat, mean or sd cannot be computed for ");
    return name_worst(e, bad_undefined, message);
}

/* R-hat above its limit; infinite for chains without overlap. */
static double bad_rhat(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].rhat;
    return isinf(*shown) ? 1e300 : *shown - RHAT_LIMIT;
}

bool chains_disagree(const evidence *e, text *message)
{
    text_add(message, "The chains disagree: R-hat is above %.4g for ", RHAT_LIMIT);
    return name_worst(e, bad_rhat, message);
}

/* Missing ESS along the path. */
static double bad_path_ess(const evidence *e, size_t j, double *shown)
{
    *shown = result_path_ess(e->r, j);
    return required_ess(&e->r->info) - *shown;
}

bool path_ess_low(const evidence *e, text *message)
{
    const result_info *info = &e->r->info;
    text_add(message, "The effective sample size of the path is ");
    text_count(message, info->min_ess);
    text_add(message, ", but %.0f are needed", required_ess(info));
    size_t length = message->length;
    text_add(message, "; it is too small for ");
    bool named = name_worst(e, bad_path_ess, message);
    if (!named) text_cut(message, length);
    return named || info->min_ess < required_ess(info);
}

/* Missing ESS of the stored draws. */
static double bad_draw_ess(const evidence *e, size_t j, double *shown)
{
    *shown = fmin(e->parameters[j].ess_bulk, e->parameters[j].ess_tail);
    return DRAWS_LIMIT - *shown;
}

bool draw_ess_low(const evidence *e, text *message)
{
    text_add(message, "The effective sample size of the stored draws is below %.0f for ",
             DRAWS_LIMIT);
    return name_worst(e, bad_draw_ess, message);
}

static double bad_squares(const evidence *e, size_t j, double *shown)
{
    *shown = e->r->ess_square[j];
    return SQUARE_LIMIT * e->r->ess_mean[j] - *shown;
}

bool squares_lag(const evidence *e, text *message)
{
    text_add(message,
             "Standard deviations are much less precise than means: the ESS of squares is "
             "less than a tenth of that of means for ");
    return name_worst(e, bad_squares, message);
}

static double bad_mcse(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].mcse / e->parameters[j].sd;
    return *shown - MCSE_LIMIT;
}

bool errors_large(const evidence *e, text *message)
{
    text_add(message,
             "The Monte Carlo error of the mean is more than a tenth of the posterior sd for ");
    return name_worst(e, bad_mcse, message);
}

/* ---- separate modes ---- */

/* The range of one parameter in one chain. */
typedef struct {
    size_t chain;
    double low, high;
    bool stationary; /* the halves of the chain have about the same mean */
} range;

/* Draw i of parameter j in a chain. */
static double draw_at(const result *r, size_t chain, size_t i, size_t j)
{
    return r->w[(chain * r->draws + i) * r->dim + j];
}

/* The range of parameter j in a chain, and whether its halves agree. */
static range range_of(const result *r, size_t chain, size_t j)
{
    range out = {.chain = chain, .low = INFINITY, .high = -INFINITY};
    size_t half = r->draws / 2;
    double first = 0.0, second = 0.0, square = 0.0;
    for (size_t i = 0; i < 2 * half; i++) {
        double x = draw_at(r, chain, i, j);
        *(i < half ? &first : &second) += x / (double)half;
        out.low = fmin(out.low, x);
        out.high = fmax(out.high, x);
    }
    double mean = 0.5 * (first + second);
    for (size_t i = 0; i < 2 * half; i++) {
        double off = draw_at(r, chain, i, j) - mean;
        square += off * off / (double)(2 * half);
    }
    out.stationary = fabs(first - second) < sqrt(square);
    return out;
}

static int by_low(const void *a, const void *b)
{
    double x = ((const range *)a)->low, y = ((const range *)b)->low;
    return (x > y) - (x < y);
}

static int by_chain(const void *a, const void *b)
{
    size_t x = ((const range *)a)->chain, y = ((const range *)b)->chain;
    return (x > y) - (x < y);
}

/* Fills the ranges of parameter j, lowest first, one per chain. Returns the number of groups by
 * (1), or 0 if a chain is not stationary. */
static size_t groups_of(const result *r, size_t j, range *ranges)
{
    size_t groups = 1;
    for (size_t c = 0; c < r->chains; c++) ranges[c] = range_of(r, c, j);
    qsort(ranges, r->chains, sizeof *ranges, by_low);
    double high = ranges[0].high;
    for (size_t c = 0; c < r->chains; c++) {
        if (!ranges[c].stationary) return 0;
        groups += ranges[c].low > high;
        high = fmax(high, ranges[c].high);
    }
    return groups;
}

/* Appends "-1.02 to -0.97 (chains 2, 4)" for the group of ranges that begins at index `at`;
 * returns the index where the next group begins. */
static size_t name_group(const result *r, range *ranges, size_t at, text *message)
{
    size_t end = at + 1;
    double low = ranges[at].low, high = ranges[at].high;
    for (; end < r->chains && ranges[end].low <= high; end++)
        high = fmax(high, ranges[end].high);
    qsort(ranges + at, end - at, sizeof *ranges, by_chain);
    text_add(message, "%.4g to %.4g (chain%s", low, high, end - at > 1 ? "s" : "");
    for (size_t c = at; c < end; c++)
        text_add(message, "%s %zu", c > at ? "," : "", ranges[c].chain + 1);
    text_add(message, ")");
    return end;
}

/* Appends the whole message for parameter j, which has so many groups of ranges. */
static void name_groups(const evidence *e, size_t j, size_t groups, range *ranges,
                        text *message)
{
    size_t at = 0;
    groups_of(e->r, j, ranges);
    text_add(message, "The chains stay in separate regions and none moved between them: ");
    text_name(message, e->parameters[j].name);
    text_add(message, " is in ");
    for (size_t g = 0; g < groups && g < RANGES_NAMED; g++) {
        text_add(message, "%s", g ? ", " : "");
        at = name_group(e->r, ranges, at, message);
    }
    if (groups > RANGES_NAMED) text_add(message, " and %zu more", groups - RANGES_NAMED);
}

bool separate_modes(const evidence *e, text *message)
{
    const result *r = e->r;
    size_t max_groups = 1, worst = 0;
    if (r->chains < 2 || r->draws < DRAWS_MIN) return false;
    range *ranges = calloc(r->chains, sizeof *ranges);
    if (!ranges) {
        message->failed = true;
        return false;
    }
    for (size_t j = 0; j < r->dim; j++) {
        size_t groups = groups_of(r, j, ranges);
        if (groups > max_groups) max_groups = groups, worst = j;
    }
    if (max_groups > 1) name_groups(e, worst, max_groups, ranges, message);
    free(ranges);
    return max_groups > 1;
}

/* ---- group effects ---- */

bool is_group_effect(const result *r, const char *name)
{
    bool groups = r->info.formula && strchr(r->info.formula, '|');
    return groups && name && strncmp(name, "r_", 2) == 0 && strchr(name, '[');
}

/* Sets e->effects from the effects among the stored parameters (--ranef all). */
static void measure_stored_effects(evidence *e)
{
    const result *r = e->r;
    effect_check c = {0};
    for (size_t j = e->count; j < r->dim; j++)
        effect_check_add(&c, j, e->parameters[j].rhat, e->parameters[j].ess_bulk,
                         e->parameters[j].ess_tail);
    e->effects = (effect_measures){.count = c.count,
                                   .undefined = c.undefined,
                                   .rhat = c.rhat,
                                   .ess = c.ess,
                                   .mean_ess = effect_check_mean_ess(&c),
                                   .rhat_of = r->names[c.rhat_at],
                                   .ess_of = r->names[c.ess_at]};
}

/* Sets e->effects from the record of a run that summarised its effects without storing them. */
static void read_recorded_effects(evidence *e)
{
    const result_info *info = &e->r->info;
    e->effects =
        (effect_measures){.count = (size_t)info->effects_checked,
                          .undefined = (size_t)fmax(info->effects_undefined, 0.0),
                          .rhat = info->effects_rhat,
                          .ess = info->effects_ess,
                          .mean_ess = info->effects_mean_ess,
                          .rhat_of = info->effects_rhat_of ? info->effects_rhat_of : "",
                          .ess_of = info->effects_ess_of ? info->effects_ess_of : ""};
}

evidence evidence_of(const result *r, const sbps_parameter *parameters)
{
    evidence e = {.r = r, .parameters = parameters, .count = r->dim};
    while (e.count > 0 && is_group_effect(r, r->names[e.count - 1])) e.count--;
    if (e.count < r->dim)
        measure_stored_effects(&e);
    else if (r->info.effects_checked >= 1.0)
        read_recorded_effects(&e);
    e.effects.rhat_limit = effect_rhat_limit(e.effects.count, e.effects.mean_ess, r->chains);
    e.effects.ess_limit = effect_ess_limit(e.effects.count, DRAWS_LIMIT);
    return e;
}

bool effects_disagree(const evidence *e, text *message)
{
    const effect_measures *s = &e->effects;
    text_add(
        message,
        "The chains disagree about group effects: the largest R-hat of %zu effects is %.4g (",
        s->count, s->rhat);
    text_name(message, s->rhat_of ? s->rhat_of : "");
    text_add(message, "); the limit for so many is %.4g", s->rhat_limit);
    if (s->undefined) text_add(message, "; R-hat is undefined for %zu", s->undefined);
    return s->count > 0 && (s->rhat > s->rhat_limit || s->undefined > 0);
}

bool effects_ess_low(const evidence *e, text *message)
{
    const effect_measures *s = &e->effects;
    text_add(
        message,
        "Group effects have too few effective draws: the smallest effective sample size of "
        "%zu effects is %.0f (",
        s->count, s->ess);
    text_name(message, s->ess_of ? s->ess_of : "");
    text_add(message, "); the limit for so many is %.0f", s->ess_limit);
    return s->count > 0 && s->ess < s->ess_limit;
}

void effects_summary(const evidence *e, text *t)
{
    const effect_measures *s = &e->effects;
    text_add(t, "%zu group effects: largest R-hat %.4g (", s->count, s->rhat);
    text_name(t, s->rhat_of ? s->rhat_of : "");
    text_add(t, "; limit %.4g), smallest ESS %.0f (", s->rhat_limit, s->ess);
    text_name(t, s->ess_of ? s->ess_of : "");
    text_add(t, "; limit %.0f)", s->ess_limit);
}

/* ---- priors ---- */

/* Conflict of prior and likelihood by (2). *shown: by how many posterior sd the prior moved the
 * mean. */
static double bad_conflict(const evidence *e, size_t j, double *shown)
{
    const result *r = e->r;
    double m = r->seen_mean[j], s = r->seen_sd[j], m0 = r->prior_mean[j], s0 = r->prior_sd[j];
    double rest = 1.0 - (s / s0) * (s / s0); /* s^2 / s_l^2 */
    *shown = NAN;
    if (!(rest > UNINFORMATIVE)) return 0.0;
    double from = (m - m0) / rest, own = s / sqrt(rest); /* m_l - m_0; s_l */
    *shown = (m - m0 - from) / s;
    if (!(fabs(*shown) > MOVED)) return 0.0;
    return fabs(from) / hypot(own, s0) - FAR_APART;
}

bool prior_conflicts(const evidence *e, text *message)
{
    text_add(
        message,
        "Prior and data conflict: each makes the values improbable that the other supports. "
        "The prior moved the mean, by the posterior sds in parentheses, of ");
    return name_worst(e, bad_conflict, message);
}

/* Share of the posterior variance that is due to the prior, above the limit. */
static double bad_prior_share(const evidence *e, size_t j, double *shown)
{
    *shown = NAN;
    return e->r->prior_share[j] - PRIOR_SHARE;
}

bool prior_alone(const evidence *e, text *message)
{
    text_add(message,
             "The data has almost no information on some parameters, which only their priors "
             "determine: ");
    return name_worst(e, bad_prior_share, message);
}
