/* The report of `sbps diagnose`: makes every check in turn and numbers the findings; as text,
 * wrapped at 79 columns, or as JSON. Without a finding the text lists the most important
 * measures. */
#include "output/summary/run_checks.h"
#include "core/decimal.h"
#include "core/json.h"
#include "output/summary/summary.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS 79 /* of the text */
#define INDENT  3

/* The findings that are being written. */
typedef struct {
    text *t;
    size_t number, remarks; /* written so far: all findings, and the remarks among them */
} finding_list;

const char *check_remedy(const evidence *e, const check *c)
{
    bool band = !isnan(e->r->info.band);
    return band || !c->remedy_without_band ? c->remedy : c->remedy_without_band;
}

/* A finding_visitor: a numbered paragraph with its meaning and remedy. */
static void add_finding(void *self, const evidence *e, const check *c, bool remark,
                        const char *message)
{
    finding_list *to = self;
    text sentence = {0}, *t = to->t;
    if (remark && to->remarks++ == 0)
        text_add(t, "Remarks about the table and the priors:\n\n");
    text_add(&sentence, "%zu. %s.", ++to->number, message);
    if (sentence.failed)
        t->failed = true;
    else
        text_paragraph(t, COLUMNS, INDENT, sentence.data);
    text_free(&sentence);
    text_spaces(t, INDENT);
    text_add(t, "What it means: ");
    text_paragraph(t, COLUMNS, INDENT, c->meaning);
    text_spaces(t, INDENT);
    text_add(t, "What to do: ");
    text_paragraph(t, COLUMNS, INDENT, check_remedy(e, c));
    text_add(t, "\n");
}

/* Adds a JSON string member, then `after`. */
static void add_member(text *t, const char *key, const char *value, const char *after)
{
    text_add(t, "\"%s\": ", key);
    json_string(t, value);
    text_add(t, "%s", after);
}

/* A finding_visitor: a JSON object. */
static void add_json_finding(void *self, const evidence *e, const check *c, bool remark,
                             const char *message)
{
    finding_list *to = self;
    text *t = to->t;
    text_add(t, to->number++ ? ",\n    {" : "\n    {");
    add_member(t, "kind", remark ? "remark" : "problem", ", ");
    add_member(t, "seen", message, ", ");
    add_member(t, "meaning", c->meaning, ", ");
    add_member(t, "remedy", check_remedy(e, c), "}");
}

/* The extreme of one member of all parameters (its byte offset); NAN where it is unknown for
 * all. */
static double extreme(const evidence *e, size_t offset, double (*worse)(double, double))
{
    double worst = NAN; /* fmin and fmax skip NAN */
    for (size_t j = 0; j < e->count; j++)
        worst = worse(worst, *(const double *)((const char *)&e->parameters[j] + offset));
    return worst;
}

/* For extreme(): the larger absolute value. */
static double farther(double a, double b)
{
    return fmax(a, fabs(b));
}

/* A line with a number and its unit. */
static void add_measured(text *t, const char *what, double value, const char *unit)
{
    text_add(t, "   %-26s ", what);
    text_measure(t, value);
    text_add(t, "%s\n", unit);
}

/* The most important measures, when there is no problem. */
static void add_all_clear(text *t, const evidence *e)
{
    const result_info *info = &e->r->info;
    double draws_ess = fmin(extreme(e, offsetof(sbps_parameter, ess_bulk), fmin),
                            extreme(e, offsetof(sbps_parameter, ess_tail), fmin));
    text_add(t, "No problems found. Checked, among others:\n");
    text_add(t, "   %-26s %.4g\n", "largest R-hat",
             extreme(e, offsetof(sbps_parameter, rhat), fmax));
    text_add(t, "   %-26s ", "smallest ESS of the path");
    text_count(t, info->min_ess);
    text_add(t, " (needed: %.0f)\n   %-26s ", required_ess(info), "smallest ESS of the draws");
    text_count(t, draws_ess);
    text_add(t, "\n");
    text_add(t, "   %-26s ", "stated bias");
    text_estimate(t, info->bias_estimate, info->bias_estimate_se);
    text_add(t, " posterior sd\n");
    add_measured(t, "bias budget", info->bias_budget, " posterior sd");
    add_measured(t, "largest bias of a mean",
                 extreme(e, offsetof(sbps_parameter, bias), farther), " posterior sd");
    add_measured(t, "largest bias of an sd",
                 100.0 * extreme(e, offsetof(sbps_parameter, sd_bias), farther), "% of the sd");
    if (!(info->bounces > 0.0)) { /* a discrete-time sampler */
        text_add(t, "\n");
        return;
    }
    if (!isnan(info->band)) /* violations of the band matter only through missed bounces */
        add_measured(t, "missed bounces", 100.0 * info->missing_bounces / info->bounces,
                     "% of bounces");
    add_measured(t, "bounces", 100.0 * info->bounces / info->proposals, "% of proposals");
    add_measured(t, "refreshments", 100.0 * info->refreshments / info->bounces, "% of bounces");
    text_add(t, "\n");
}

/* Makes the checks of one list. False when memory runs out. */
static bool visit_table(const evidence *e, const check *table, bool remark,
                        finding_visitor *visit, void *self, finding_counts *out)
{
    text message = {0};
    for (const check *c = table; c->detect; c++) {
        text_cut(&message, 0);
        bool found = c->detect(e, &message) && !message.failed;
        out->checks++;
        out->problems += found && !remark;
        out->remarks += found && remark;
        if (found && visit) visit(self, e, c, remark, message.data);
    }
    bool complete = !message.failed;
    text_free(&message);
    return complete;
}

bool visit_findings(const evidence *e, finding_visitor *visit, void *self, finding_counts *out)
{
    *out = (finding_counts){0};
    return visit_table(e, run_checks, false, visit, self, out) &&
           visit_table(e, run_remarks, true, visit, self, out);
}

/* Adds the sentence on group effects, if there are any. */
static void add_effects(text *t, const evidence *e)
{
    text sentence = {0};
    if (e->effects.count == 0) return;
    effects_summary(e, &sentence);
    text_add(&sentence, ".");
    if (sentence.failed)
        t->failed = true;
    else
        text_paragraph(t, COLUMNS, 0, sentence.data);
    text_free(&sentence);
}

/* The report as text. */
static void add_diagnosis(text *t, const evidence *e, finding_counts *n)
{
    text findings = {0};
    finding_list list = {.t = &findings};
    bool complete = visit_findings(e, add_finding, &list, n);
    if (n->problems == 0) add_all_clear(t, e);
    if (findings.data) text_add(t, "%s", findings.data);
    t->failed |= !complete || findings.failed;
    text_free(&findings);
    add_effects(t, e);
    text_add(t, "%zu problem%s, %zu remark%s in %zu checks of %zu parameters, ", n->problems,
             n->problems == 1 ? "" : "s", n->remarks, n->remarks == 1 ? "" : "s", n->checks,
             e->r->dim);
    text_add(t, "%zu chains, %zu draws.\n", e->r->chains, e->r->chains * e->r->draws);
}

static void add_json_number(text *t, const char *key, double value)
{
    text_add(t, ", \"%s\": ", key);
    json_number(t, value);
}

/* The member "effects", if there are any. */
static void add_json_effects(text *t, const evidence *e)
{
    const effect_measures *s = &e->effects;
    if (s->count == 0) return;
    text_add(t, ",\n  \"effects\": {\"count\": %zu", s->count);
    add_json_number(t, "rhat", s->rhat);
    add_json_number(t, "rhat_limit", s->rhat_limit);
    text_add(t, ", ");
    add_member(t, "rhat_of", s->rhat_of, "");
    add_json_number(t, "ess", s->ess);
    add_json_number(t, "ess_limit", s->ess_limit);
    text_add(t, ", ");
    add_member(t, "ess_of", s->ess_of, "}");
}

/* The report as JSON. */
static void add_json_diagnosis(text *t, const evidence *e, finding_counts *n)
{
    finding_list list = {.t = t};
    text_add(t, "{\n  \"findings\": [");
    if (!visit_findings(e, add_json_finding, &list, n)) t->failed = true;
    text_add(t, "%s],\n  \"checks\": %zu", list.number ? "\n  " : "", n->checks);
    text_add(t, ",\n  \"problems\": %zu,\n  \"remarks\": %zu", n->problems, n->remarks);
    add_json_effects(t, e);
    text_add(t, "\n}\n");
}

sbps_status report_diagnose(const result *r, sbps_format format, char **out, size_t *findings,
                            sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    *out = NULL;
    if (format != SBPS_TEXT && format != SBPS_JSON)
        return fail(err, SBPS_BAD_ARG, "a diagnosis has no format %d: use text or JSON",
                    (int)format);
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto done;
    const evidence e = evidence_of(r, parameters);
    finding_counts n;
    (format == SBPS_JSON ? add_json_diagnosis : add_diagnosis)(&t, &e, &n);
    numbers_end(&locale);
    if (findings) *findings = n.problems + n.remarks;
    status = text_give(&t, out, err);
done:
    free(parameters);
    return status;
}

/* ---- run checks ----
 *
 * The checks of `sbps diagnose` and their texts. A problem means that the numbers of a run may
 * be wrong or were expensive. A remark is about the table and the priors: the numbers are those
 * of the posterior, and a longer run does not change them, but a reader should know. */

/* Remedies of several findings. */
#define WIDER_BAND                                                                             \
    "Use a larger --batch-size or a wider --band (or leave both at auto), or a better "        \
    "--control-variate. If this bias is acceptable, raise --bias-budget."
#define OTHER_SAMPLER "Use another sampler: sbps stays within its budget, hmc has no such bias."

/* Each entry: the condition, what it means, what to do, and what to do if the sampler has no
 * band (NULL: the same). A more specific check comes before those that it causes. */
const check run_checks[] = {
    {interrupted, "The file holds the draws up to that moment. They may be too few.",
     "Run it again to the end, or continue from its checkpoint with --resume if it wrote one.",
     NULL},
    {not_computable,
     "The draws are all equal, or not finite, or there are fewer than four in a chain.",
     "Look for columns with a single value or very large numbers (--standardize helps), and "
     "keep more draws with --draws.",
     NULL},
    {separate_modes,
     "The posterior has several separate modes, or chains are stuck. Each chain describes its "
     "own region. How much probability each region has is unknown, so averages over all "
     "chains are meaningless. A longer run does not help.",
     "Look at the chains one by one (dimension `chain` of the file). If the modes are copies "
     "of "
     "each other, as with exchangeable labels, use a prior that distinguishes them. To study "
     "one mode, use --chains 1.",
     NULL},
    {chains_disagree,
     "R-hat compares chains that started in different places; 1.00 means that they agree. "
     "Above "
     "1.01 some chains have not explored the whole posterior, and the results for these "
     "parameters are unreliable.",
     "Run longer (a larger --ess or --warmup). If it persists, two columns may carry the same "
     "information, or the posterior may have several modes.",
     NULL},
    {effects_disagree,
     "Group effects are checked together, because the largest R-hat of many exceeds 1.01 by "
     "chance. Above the limit, the chains have not explored some of the effects.",
     "Run longer (a larger --ess or --warmup).", NULL},
    {effects_ess_low, "Means, quantiles and errors of some group effects are imprecise.",
     "Run longer, or keep more draws with --draws.", NULL},
    {warmup_too_short,
     "Automatic warm-up lasts until the effective sample size of every parameter and its "
     "square "
     "is about 100. It ended earlier because of --warmup, --seconds or --epochs, or because it "
     "never got there. The draws may still depend on the starting points, and the tuning rests "
     "on few samples.",
     "Leave --warmup at auto and allow more --seconds or --epochs. If it persists, the chains "
     "mix slowly: see the other findings.",
     NULL},
    {path_ess_low,
     "Successive positions are correlated, so a long path counts as few independent samples. "
     "With so few, means and standard deviations are imprecise.",
     "Run longer: --ess, --epochs or --seconds. If that is slow, try --metric dense or a "
     "better --control-variate.",
     "Run longer: --ess, --epochs or --seconds. If that is slow, try --metric dense, or the "
     "samplers sbps and hmc."},
    {draw_ess_low,
     "Quantiles, R-hat and both ess columns are computed from the stored draws, which are too "
     "few or too correlated. Mean and sd come from the whole path, which holds more "
     "information.",
     "Keep more draws with --draws, or run longer.", NULL},
    {over_budget,
     "The sampler uses a mini-batch of rows at a time and so misses some bounces. By its own "
     "estimate the means are off by this much. A longer run does not reduce it.",
     WIDER_BAND, OTHER_SAMPLER " If this bias is acceptable, raise --bias-budget."},
    {ranks_over_budget,
     "After set-up a chain uses the rows of one rank and, for those of the others, a "
     "polynomial "
     "at the mode. Over all ranks the differences cancel; this is a bound of what remains.",
     "Start fewer ranks, so that each has more rows, or use --sampler hmc, which uses the rows "
     "of all ranks.",
     NULL},
    {bias_uncertain,
     "The stated bias is computed from the bounces that were missed. These were few, or single "
     "ones were large, so the bias may be above the budget.",
     "Run longer: a larger --ess reduces the error. A better --control-variate, a larger "
     "--batch-size or a wider --band reduces both the bias and its error.",
     "Run longer: a larger --ess reduces the error."},
    {spreads_over_budget,
     "Missed bounces let the path go too far, which mostly makes standard deviations too "
     "large. "
     "Intervals are off by the same fraction.",
     WIDER_BAND, OTHER_SAMPLER},
    {bounces_missing,
     "The stated bias is derived from this number. In experiments means were off by two to six "
     "posterior sd for each missed bounce per sd. At this rate the stated bias is only an "
     "order "
     "of magnitude. Rare events cause this: a mini-batch without one of them has no "
     "information on them.",
     "Use a --control-variate, which uses all rows, or a much larger --batch-size; leave "
     "--band at auto.",
     NULL},
    {rare_rows_missed,
     "The largest possible slope of every row was computed beforehand. Some rows alone can "
     "exceed the band, and batches contain them so rarely that this run may never have used "
     "them.",
     "Leave --batch-size and --minibatch at auto, which puts such rows into every batch, or "
     "use "
     "hmc.",
     NULL},
    {bias_unknown,
     "Nothing was measured that shows how far means and standard deviations are off. A longer "
     "run does not reduce this bias.",
     "Treat the results as approximate. See how they change with half the --step-size, or "
     "compare with a run of the sbps sampler, which estimates its bias.",
     NULL},
    {used_published_method,
     "The band is three standard deviations wide whatever the noise. The bias is estimated but "
     "not limited. Without a minimum proposal rate and a horizon, the estimate misses bounces "
     "where the band is below zero.",
     "Run without --paper, unless you want to compare with the publication.", NULL},
    {band_violated,
     "The sampler needs an upper bound of the slope and predicts it from the slopes that it "
     "has "
     "observed. Where the slope exceeds the bound, part of a bounce is missed, which biases "
     "the result. Far more violations than a normal distribution around the regression allows "
     "mean that the noise is not normal, or larger than estimated, or that the slope is not "
     "linear along the path.",
     "Use a wider --band or leave it at auto, or a larger --batch-size; leave --pool-variance "
     "and --lack-of-fit at auto.",
     NULL},
    {last_batch_alone,
     "The variance within one mini-batch is a rough estimate of the noise. Where it is too "
     "small, the band is too low. This is the main cause of the published method's bias.",
     "Leave --pool-variance at auto, without --paper.", NULL},
    {line_unfit,
     "Where the posterior is curved, the band must be wider by what a straight line does not "
     "explain. A larger k does not replace this.",
     "Leave --lack-of-fit at auto, without --paper, or use --regression gp.", NULL},
    {band_at_cap,
     "No width that was tried kept the missed bounces within the budget. Single rows or events "
     "can outweigh whole mini-batches, or the slope is far from linear. The stated bias is "
     "then "
     "only an order of magnitude.",
     "Use a --control-variate and a larger --batch-size, with --lack-of-fit at auto; or a "
     "sampler without a band, such as hmc.",
     NULL},
    {few_windows,
     "The variance estimated from a window is correct only on average over shuffles of the "
     "table. With so few windows it may be off by half, and so may the band.",
     "Leave --minibatch at auto, which uses random rows here, or use a smaller --batch-size.",
     NULL},
    {reference_far,
     "A control variate removes noise near its reference point. So far away it adds noise, "
     "which makes the run slower but not biased.",
     "Use --control-variate gradient instead of hessian, or none. If a prior or few rows make "
     "the posterior skewed, a tighter --prior brings mean and mode closer together.",
     "Use sbps with --control-variate none, or a sampler without a reference point, such as "
     "lipsbps, local-bps, zigzag-ss or hmc."},
    {metric_adapting,
     "A metric that depends on the past of the path biases it. How much is not measured, and "
     "no bias is stated.",
     "Omit --adapt-forever: the metric is then fixed after warm-up.", NULL},
    {proposals_wasted,
     "Every proposal evaluates a mini-batch, and most of them changed nothing, because the "
     "bound is far above the slope. The result is correct, but the run was slow.",
     "Leave --band at auto, use a larger --batch-size or a better --control-variate.",
     "The bound is exact and cannot be lowered. A sampler that learns its own bound, such as "
     "sbps, wastes fewer proposals."},
    {batch_too_small,
     "The noise of the mini-batches is larger than the slope that they measure, so the path "
     "turns often and advances slowly.",
     "Use a larger --batch-size, or a better --control-variate, which removes most of the "
     "noise.",
     "Use sbps, whose batches and control variate remove most of the noise, or, for a small "
     "table, hmc, which has none."},
    {squares_lag,
     "The path crosses the centre often but keeps the same distance from it for long, so means "
     "converge before standard deviations and quantiles do.",
     "Raise --refresh-rate, and judge the run by the smaller of the two.",
     "Run longer, and judge the run by the smaller of the two. Samplers with straight paths "
     "may need a larger --refresh-rate."},
    {chains_short, "All results of this run, its findings included, rest on little data.",
     "Run longer: --ess, --epochs or --seconds.", NULL},
    {errors_large, "Another run with another seed would give visibly different means.",
     "Run longer: the error falls with the square root of the time.", NULL},
    {refreshed_too_often,
     "A refreshment draws a new direction of travel. When it happens more often than bounces, "
     "the path becomes a slow random walk.",
     "Lower --refresh-rate or leave it at auto.", NULL},
    {refreshed_too_rarely,
     "Straight segments and exact reflections alone may never reach some part of the "
     "posterior, although every diagnostic looks fine.",
     "Leave --refresh-rate at auto, or raise it.", NULL},
    {NULL, NULL, NULL, NULL},
};

const check run_remarks[] = {
    {prior_conflicts,
     "The posterior is a compromise that neither the prior nor the data supports. Usually the "
     "prior does not mean what was intended: an intercept at x = 0 far from all rows, or a "
     "coefficient in other units.",
     "Look at the prior that was used (`sbps sample --dry-run`, or the group `model` of the "
     "file). Widen --prior or --prior-intercept. For columns far from 0 use "
     "--prior-intercept-at mean or --standardize.",
     NULL},
    {prior_alone,
     "Their columns are constant, or several columns carry the same information, as copies do: "
     "each posterior is what its prior made it. Predictions for rows like these are not "
     "affected.",
     "Do not interpret them. Exclude such columns with --features.", NULL},
    {influential_rows,
     "The posterior is computed correctly, but one row of the table decides part of it: "
     "without "
     "that row a parameter would move by so much (\"about\": more than 2 posterior sd, where "
     "the estimate, made without a new fit, is rough). Often such a row has a typing error or "
     "other units.",
     "Look at these rows (numbered from 1 below the header, without rows that were dropped). "
     "If they are correct, report the result with and without them. A logarithm of the column "
     "often reduces their influence.",
     NULL},
    {influential_groups,
     "The posterior is computed correctly, but one group of the table decides part of it: "
     "without that group a parameter would move by so much (\"about\": more than 2 posterior "
     "sd, where the estimate, made without a new fit, is rough). Groups with very many rows do "
     "this, and groups that are unlike all others.",
     "Look at these groups. If they are correct, report the result with and without them.",
     NULL},
    {NULL, NULL, NULL, NULL},
};
