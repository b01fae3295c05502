/* The checks of `sbps diagnose`. Thresholds: R-hat 1.01 and ESS 400 are those of Vehtari et al.
 * (2021); the others are where, by experience with these samplers, a run starts to waste its
 * work or to mislead. */
#include "output/summary/run_checks.h"

#include <math.h>
#include <stdint.h>

#define RHAT_LIMIT       1.01
#define ESS_LIMIT        400.0
#define DRAWS_LIMIT      300.0 /* ESS of the stored draws: a path of 400 may keep a little less */
#define BOUNCE_LIMIT     0.02  /* bounces per proposal */
#define PASSES_LIMIT     100.0 /* passes over the data per effective sample */
#define PASSES_EFFICIENT 10.0  /* what hmc may take: below it nothing is wasted */
#define SQUARE_LIMIT     0.1   /* ESS of squares over ESS of means */
#define EVENTS_LIMIT     100.0 /* bounces a chain */
#define MCSE_LIMIT       0.1   /* posterior sd */
#define MAX_NAMED        5

double required_ess(const result_info *info)
{
    return info->ess_goal > ESS_LIMIT ? info->ess_goal : ESS_LIMIT;
}

/* The worst parameter that comes after (worse_than, after) in order of badness, then of place;
 * their number when none is left. `after` SIZE_MAX: the worst of all, be it infinite. */
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

static size_t count_bad(const evidence *e, badness *of)
{
    size_t count = 0;
    double shown;
    for (size_t j = 0; j < e->count; j++) count += of(e, j, &shown) > 0.0;
    return count;
}

bool name_worst(const evidence *e, badness *of, text *seen)
{
    size_t count = count_bad(e, of), last = 0;
    double worse_than = INFINITY, shown;
    if (count == 0) return false;
    text_add(seen, "%zu of %zu parameters%s", count, e->count,
             count > 1 ? ", worst first:" : ":");
    for (size_t k = 0; k < count && k < MAX_NAMED; k++) {
        size_t j = next_worst(e, of, worse_than, k ? last : SIZE_MAX);
        worse_than = of(e, j, &shown);
        last = j;
        text_add(seen, "%s ", k ? "," : "");
        text_name(seen, e->parameters[j].name);
        if (!isnan(shown)) text_add(seen, " (%.4g)", shown);
    }
    if (count > MAX_NAMED) text_add(seen, " and %zu more", count - MAX_NAMED);
    return true;
}

static double bad_rhat(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].rhat;
    return isinf(*shown) ? 1e300 : *shown - RHAT_LIMIT;
}

static double bad_undefined(const evidence *e, size_t j, double *shown)
{
    const sbps_parameter *p = &e->parameters[j];
    *shown = NAN;
    return isnan(p->rhat) || !isfinite(p->mean) || !isfinite(p->sd) ? 1.0 : 0.0;
}

static double bad_path_ess(const evidence *e, size_t j, double *shown)
{
    *shown = result_path_ess(e->r, j);
    return required_ess(&e->r->info) - *shown;
}

static double bad_draw_ess(const evidence *e, size_t j, double *shown)
{
    *shown = fmin(e->parameters[j].ess_bulk, e->parameters[j].ess_tail);
    return DRAWS_LIMIT - *shown;
}

static double bad_squares(const evidence *e, size_t j, double *shown)
{
    *shown = e->r->ess_square[j];
    return SQUARE_LIMIT * e->r->ess_mean[j] - *shown;
}

static double bad_mcse(const evidence *e, size_t j, double *shown)
{
    *shown = e->parameters[j].mcse / e->parameters[j].sd;
    return *shown - MCSE_LIMIT;
}

static bool interrupted(const evidence *e, text *seen)
{
    text_add(seen, "The run was interrupted before it had finished");
    return e->r->info.interrupted;
}

static bool undefined(const evidence *e, text *seen)
{
    text_add(seen, "R-hat, mean or sd cannot be worked out for ");
    return name_worst(e, bad_undefined, seen);
}

static bool chains_disagree(const evidence *e, text *seen)
{
    text_add(seen, "The chains disagree: R-hat is above %.4g for ", RHAT_LIMIT);
    return name_worst(e, bad_rhat, seen);
}

static bool too_few_effective(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen, "The effective sample size of the path is ");
    text_count(seen, info->min_ess);
    text_add(seen, ", wanted are %.0f", required_ess(info));
    size_t length = seen->length;
    text_add(seen, "; too few for ");
    bool named = name_worst(e, bad_path_ess, seen);
    if (!named) text_cut(seen, length);
    return named || info->min_ess < required_ess(info);
}

static bool too_few_draws(const evidence *e, text *seen)
{
    text_add(seen, "The stored draws are worth fewer than %.0f independent ones for ",
             DRAWS_LIMIT);
    return name_worst(e, bad_draw_ess, seen);
}

static bool as_published(const evidence *e, text *seen)
{
    text_add(seen,
             "The published method was asked for (--paper), which holds to no bias budget");
    return e->r->info.paper;
}

static bool proposals_wasted(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    text_add(seen, "Only %.3g%% of the proposals (%.0f of %.0f) became bounces",
             100.0 * info->bounces / info->proposals, info->bounces, info->proposals);
    bool efficient = rows_per_sample(info) < PASSES_EFFICIENT * info->rows;
    return info->bounces > 0.0 && info->bounces < BOUNCE_LIMIT * info->proposals && !efficient;
}

static bool batch_too_small(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    double passes = rows_per_sample(info) / info->rows;
    text_add(seen, "Mini-batches of %.0f row%s are noisy: ", info->batch_size,
             info->batch_size == 1.0 ? "" : "s");
    if (!isnan(info->band)) text_add(seen, "the band k is %.3g, and ", info->band);
    text_add(seen, "the passes over all rows that one effective sample costs are ");
    text_measure(seen, passes);
    return info->batch_size < info->rows && passes > PASSES_LIMIT;
}

static bool squares_lag(const evidence *e, text *seen)
{
    text_add(seen, "Spreads are known much worse than means: the ESS of squares is less than a "
                   "tenth of that of means for ");
    return name_worst(e, bad_squares, seen);
}

static bool chains_short(const evidence *e, text *seen)
{
    const result_info *info = &e->r->info;
    bool bouncy = info->bounces > 0.0;
    double events = (bouncy ? info->bounces : info->proposals) / (double)e->r->chains;
    text_add(seen, "The chains are short: %.0f %s each, %.0f are wanted", events,
             bouncy ? "bounces" : "proposals", EVENTS_LIMIT);
    return events < EVENTS_LIMIT;
}

static bool errors_large(const evidence *e, text *seen)
{
    text_add(seen,
             "The Monte Carlo error of the mean is more than a tenth of the posterior sd for ");
    return name_worst(e, bad_mcse, seen);
}

const check run_checks[] = {
    {interrupted, "What there was at that moment is in the file; it may be too little.",
     "Run it again to the end, or go on from its checkpoint with --resume if it kept one.",
     NULL},
    {undefined,
     "Either the draws never moved, or they are not finite numbers, or there are fewer than "
     "four of them in a chain.",
     "Look for columns that hold a single value or huge numbers (--standardize helps), and "
     "keep "
     "more draws with --draws.",
     NULL},
    {separate_modes,
     "The posterior has several separate peaks, or chains are stuck. Each chain describes its "
     "own place; how much of the posterior each place holds is not known, so that the numbers "
     "of all chains together describe nothing. Running longer will not bring them together.",
     "Look at the chains one by one (`chain` in the file). Peaks that are copies of each "
     "other, as when labels can be exchanged, go away with a prior that tells them apart; to "
     "study one peak, use --chains 1.",
     NULL},
    {chains_disagree,
     "R-hat compares chains that started in different places; at 1.00 they tell the same "
     "story. Above 1.01 some of them have not yet seen the whole posterior, and the numbers of "
     "these parameters cannot be trusted.",
     "Run longer (a larger --ess or --warmup). If it stays, two columns may say the same "
     "thing, or the posterior may have several separate peaks.",
     NULL},
    {effects_disagree,
     "Effects of groups are checked all together, because the largest R-hat of many lies above "
     "1.01 by chance alone. Above "
     "the limit, the chains have not yet explored some of them.",
     "Run longer (a larger --ess or --warmup).", NULL},
    {effects_few, "Means, quantiles and errors of some group effects are rough.",
     "Run longer, or keep more draws with --draws.", NULL},
    {warmup_too_short,
     "It goes on until the slowest parameter and its square have been seen a hundred times "
     "over. "
     "It was ended before, by --warmup, --seconds or --epochs or because that did not come "
     "about: "
     "where the chains started may still show, and what was tuned was tuned on little.",
     "Leave --warmup to auto and give --seconds or --epochs more room. If it stays, something "
     "mixes badly: see the other findings.",
     NULL},
    {too_few_effective,
     "Successive positions resemble each other, so that a long path counts as few independent "
     "samples. With so few, means and spreads are still rough.",
     "Run longer: --ess, --epochs or --seconds. If that is slow, try --metric dense or a "
     "better "
     "--control-variate.",
     "Run longer: --ess, --epochs or --seconds. If that is slow, try --metric dense, or the "
     "samplers sbps and hmc."},
    {too_few_draws,
     "Quantiles, R-hat and both ess columns are worked out from the stored draws, and these "
     "are too few or too alike. Means and sd come from the whole path, which holds more.",
     "Keep more draws with --draws, or run longer.", NULL},
    {over_budget,
     "Looking at a part of the rows at a time makes the sampler miss some bounces. By its own "
     "estimate the means are off by this much, which no longer run will mend.",
     "Use a larger --batch-size or a wider --band (or leave both to auto), or a better "
     "--control-variate. If you can live with it, raise --bias-budget.",
     "Use another sampler: sbps keeps to its budget, hmc has no such bias. If you can live "
     "with "
     "it, raise --bias-budget."},
    {ranks_over_budget,
     "After set-up a chain sees the rows of one rank, and of the others a polynomial at the "
     "mode. Over "
     "all ranks the difference cancels but for this bound of what is left.",
     "Start fewer ranks, so that each has more rows, or use --sampler hmc, which looks at "
     "those of all.",
     NULL},
    {bias_uncertain,
     "The stated bias rests on the bounces that were missed, and these were few, or single "
     "ones "
     "were large. What is known of it leaves room for more than the budget.",
     "Run longer: a larger --ess makes the error smaller. A better --control-variate, a larger "
     "--batch-size or a wider --band makes bias and error smaller.",
     "Run longer: a larger --ess makes the error smaller."},
    {spreads_over_budget,
     "Missed bounces let the path stray, and most often make spreads too wide: intervals are "
     "off "
     "by the same share.",
     "Use a larger --batch-size or a wider --band (or leave both to auto), or a better "
     "--control-variate. If you can live with it, raise --bias-budget.",
     "Use another sampler: sbps keeps to its budget, hmc has no such bias."},
    {bounces_missing,
     "This is the meter behind the stated bias, before anything is concluded from it: means "
     "were "
     "off by two to six posterior sd for each missing bounce per sd wherever it was measured. "
     "So "
     "many are missing that the stated bias is no more than its order of magnitude. Rare "
     "events "
     "do that: a mini-batch without one of them knows nothing of them.",
     "Use a --control-variate, which knows all rows, or a much larger --batch-size; leave "
     "--band "
     "to auto.",
     NULL},
    {rows_unmet,
     "What every row can do was worked out beforehand. Some can do more in one look than the "
     "band "
     "allows for, and a batch holds them so rarely that this run may not have seen it happen.",
     "Leave --batch-size and --minibatch to auto, which has such rows in every batch, or use "
     "hmc.",
     NULL},
    {bias_unknown,
     "Nothing was measured that tells how far the means and spreads are off. A longer run will "
     "not mend it.",
     "Treat the numbers as approximate and see how they change with half the --step-size, or "
     "compare with a run of the sbps sampler, which measures its bias.",
     NULL},
    {as_published,
     "The band is three standard deviations wide whatever the noise; the bias is estimated but "
     "nothing is done about it. Without a floor under the proposal rate and a horizon the "
     "estimate is blind where the band lies below zero.",
     "Run without --paper unless you want to compare with the publication.", NULL},
    {band_violated,
     "The sampler needs an upper bound of the slope and guesses it from what it saw. Each time "
     "the slope exceeds it, part of a bounce is lost, which biases the result. Far more of "
     "that "
     "than a normal law around the regression allows means that the noise is not normal, or "
     "larger than was thought, or that the slope is no straight line.",
     "Use a wider --band or leave it to auto, or a larger --batch-size; leave --pool-variance "
     "and "
     "--lack-of-fit to auto.",
     NULL},
    {last_batch_alone,
     "The spread of one mini-batch is a rough estimate of the noise, and where it comes out "
     "too "
     "small the band is too low. This is the main cause of the published method's bias.",
     "Leave --pool-variance to auto, without --paper.", NULL},
    {line_unfit,
     "Where the posterior bends, what a straight line leaves unexplained must widen the band. "
     "A "
     "larger k is no substitute.",
     "Leave --lack-of-fit to auto, without --paper, or use --regression gp.", NULL},
    {band_at_cap,
     "No width that was tried kept the missing bounces within the budget: single rows or "
     "events "
     "can outweigh whole mini-batches, or the slope is far from a straight line. The stated "
     "bias "
     "is then no more than an order of magnitude.",
     "Use a --control-variate and a larger --batch-size, with --lack-of-fit left to auto; or a "
     "sampler without a band, such as hmc.",
     NULL},
    {few_windows,
     "The variance estimated from a window is right only on average over shuffles of the "
     "table; "
     "with so few windows it may be off by half, and the band with it.",
     "Leave --minibatch to auto, which takes random rows here, or use a smaller --batch-size.",
     NULL},
    {reference_far,
     "A control variate takes out the noise near its reference point. So far off it adds "
     "noise, which costs rows; it does not bias.",
     "Use --control-variate gradient in place of hessian, or none. Where a prior or few rows "
     "make "
     "the posterior lopsided, a tighter --prior brings mean and mode together.",
     "Use sbps with --control-variate none, or a sampler that needs no reference, such as "
     "lipsbps, local-bps, zigzag-ss or hmc."},
    {metric_adapting,
     "A metric that depends on where the path has been leads it astray; how far is not "
     "measured, and no bias is stated.",
     "Leave --adapt-forever out: the metric is then frozen after warm-up.", NULL},
    {proposals_wasted,
     "Every proposal costs a mini-batch, and most of them changed nothing: the bound lies far "
     "above the slope. The result is not wrong, only dear.",
     "Leave --band to auto, use a larger --batch-size or a better --control-variate.",
     "The bound is exact and cannot be lowered: a sampler that learns its own, such as sbps, "
     "wastes less."},
    {batch_too_small,
     "The noise of the mini-batches drowns the slope it should measure, and the path wriggles "
     "instead of travelling.",
     "Use a larger --batch-size, or a better --control-variate, which takes most of the noise "
     "away.",
     "Use sbps, whose batches and control variate take most of the noise away, or on a small "
     "table hmc, which has none."},
    {squares_lag,
     "The path crosses the middle often but keeps its distance from it for long, so that means "
     "settle before spreads and quantiles do.",
     "Raise --refresh-rate, and judge the run by the smaller of the two.",
     "Run longer, and judge the run by the smaller of the two; samplers that fly straight may "
     "want a larger --refresh-rate."},
    {chains_short,
     "Everything said about this run, its warnings too, rests on little evidence.",
     "Run longer: --ess, --epochs or --seconds.", NULL},
    {errors_large, "Another run with another seed would give visibly different means.",
     "Run longer; the error falls with the square root of the time.", NULL},
    {refreshed_too_often,
     "A refreshment forgets the direction of travel. When it happens more often than bounces "
     "the path becomes a slow random walk.",
     "Lower --refresh-rate or leave it to auto.", NULL},
    {refreshed_too_rarely,
     "Straight flights and exact reflections alone may never reach some part of the posterior, "
     "and every number can look fine all the same.",
     "Leave --refresh-rate to auto, or raise it.", NULL},
    {NULL, NULL, NULL, NULL},
};
