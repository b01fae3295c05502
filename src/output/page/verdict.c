/* Section: the verdict, which is one of four sentences, the measures behind it, and the
 * findings of `diagnose`. */
#include "output/page/html.h"
#include "output/page/page_view.h"
#include "output/summary/run_checks.h"

#include <math.h>

#define RHAT_LIMIT 1.01

typedef struct {
    double rhat;  /* the largest */
    double error; /* the largest Monte Carlo error, in posterior sd */
    double draws_ess;
    finding_counts findings;
    size_t misfits;        /* findings on the model, from the table */
    size_t prior_findings; /* findings on priors */
    bool disagree, few, biased,
        unknown;           /* by R-hat; by ESS; bias above its budget; not known */
    bool effects_disagree; /* effects of groups, by R-hat or ESS */
} run_measures;

/* Collects the measures of a run and compares them with their limits. */
static run_measures assess_run(const view *v)
{
    run_measures j = {.rhat = NAN, .error = NAN, .draws_ess = NAN};
    const result_info *info = &v->r->info;
    evidence e = evidence_of(v->r, v->parameters);
    text unused = {0};
    for (size_t i = 0; i < e.count; i++) {
        const sbps_parameter *p = &v->parameters[i];
        j.rhat = fmax(j.rhat, p->rhat);
        j.error = fmax(j.error, p->mcse / p->sd);
        j.draws_ess = fmin(j.draws_ess, fmin(p->ess_bulk, p->ess_tail));
    }
    visit_findings(&e, NULL, NULL, &j.findings);
    j.misfits = page_misfits(v);
    j.prior_findings = page_prior_findings(v);
    j.effects_disagree = effects_disagree(&e, &unused);
    text_free(&unused);
    j.disagree = !(j.rhat <= RHAT_LIMIT);
    j.few = !(info->min_ess >= required_ess(info));
    j.unknown = isnan(info->bias_estimate);
    j.biased = !j.unknown && !bias_within_budget(&e);
    return j;
}

typedef struct {
    const char *kind, *mark, *sentence;
} verdict;

/* Selects the verdict: the first that applies, from bad to good. */
static verdict decide(const run_measures *j)
{
    static const verdict verdicts[] = {
        {"bad", "\xe2\x9c\x97", "Do not trust these numbers yet."},
        {"fair", "\xe2\x89\x88", "Take these numbers as approximate."},
        {"fair", "!", "You can trust these numbers, but read the remarks."},
        {"good", "\xe2\x9c\x93", "You can trust these numbers."},
    };
    if (j->disagree || j->effects_disagree || j->few || j->biased) return verdicts[0];
    if (j->unknown) return verdicts[1];
    return verdicts
        [j->findings.problems + j->findings.remarks + j->misfits + j->prior_findings == 0 ? 3
                                                                                          : 2];
}

/* The stated bias with its standard error. */
static void add_bias(text *t, const result_info *info)
{
    html_measure(t, info->bias_estimate);
    if (info->bias_estimate_se > 0.0)
        text_add(t, "<small> \xc2\xb1 %.2g</small>", info->bias_estimate_se);
}

/* One sentence with the measures and their limits. */
static void add_reasons(text *t, const run_measures *j, const result_info *info)
{
    text_add(t, "The chains %s (largest R-hat %.4g, limit %.4g), the effective sample size ",
             j->disagree ? "disagree" : "agree", j->rhat, RHAT_LIMIT);
    text_add(t, "%s (smallest ", j->few ? "is too small" : "is large enough");
    html_count(t, info->min_ess);
    text_add(t, ", required ");
    html_count(t, required_ess(info));
    text_add(t, "), and the stated bias of the means ");
    if (j->unknown) {
        text_add(t, "is not estimated by this sampler.");
        return;
    }
    text_add(t, "%s (", j->biased ? "is not within its budget" : "is within its budget");
    add_bias(t, info);
    text_add(t, " posterior sd, budget %.3g).", info->bias_budget);
}

static void open_tile(text *t, bool bad, const char *name)
{
    text_add(t, "<div class=\"%s\"><dt>%s</dt><dd>", bad ? "tile bad" : "tile", name);
}

/* Ends a tile with the limit of its measure. */
static void close_tile(text *t, bool bad, const char *limit, double value)
{
    text_add(t, "</dd><dd class=\"limit\">%s ", limit);
    (value >= 100.0 ? html_count : html_measure)(t, value);
    text_add(t, "%s</dd></div>", bad ? ": not met" : "");
}

/* Tiles: R-hat, ESS, stated bias, Monte Carlo error. */
static void add_tiles(text *t, const run_measures *j, const result_info *info)
{
    text_add(t, "<dl class=\"tiles\">");
    open_tile(t, j->disagree, "largest R-hat");
    text_add(t, "%.4g", j->rhat);
    close_tile(t, j->disagree, "limit", RHAT_LIMIT);
    open_tile(t, j->few, "smallest ESS");
    html_count(t, info->min_ess);
    close_tile(t, j->few, "required", required_ess(info));
    open_tile(t, j->biased, "stated bias, posterior sd");
    add_bias(t, info);
    close_tile(t, j->biased, "budget", info->bias_budget);
    open_tile(t, false, "largest Monte Carlo error, posterior sd");
    html_measure(t, j->error);
    text_add(t, "</dd></div></dl>\n");
}

/* A finding of `diagnose`: what was found, its meaning, its remedy. */
static void add_finding(void *self, const evidence *e, const check *c, bool remark,
                        const char *seen)
{
    text *t = self;
    text_add(t, "<li><p><strong>%s", remark ? "Remark: " : "");
    html_text(t, seen);
    text_add(t, ".</strong></p><p>");
    html_text(t, c->meaning);
    text_add(t, "</p><p><em>What to do:</em> ");
    html_text(t, check_remedy(e, c));
    text_add(t, "</p></li>\n");
}

/* A sentence on R-hat and ESS of effects of groups, if there are any. */
static void add_effects(text *t, const view *v)
{
    text sentence = {0};
    evidence e = evidence_of(v->r, v->parameters);
    if (e.effects.count == 0) return;
    effects_summary(&e, &sentence);
    text_add(t, " ");
    if (sentence.failed)
        t->failed = true;
    else
        html_text(t, sentence.data);
    text_add(t, ".");
    text_free(&sentence);
}

void page_verdict(text *t, const view *v)
{
    run_measures j = assess_run(v);
    verdict d = decide(&j);
    text_add(
        t,
        "<div class=\"verdict %s\"><p class=\"words\"><span aria-hidden=\"true\">%s</span> "
        "%s</p>\n<p>",
        d.kind, d.mark, d.sentence);
    add_reasons(t, &j, &v->r->info);
    add_effects(t, v);
    text_add(t, " %zu problem%s, %zu remark%s in %zu checks of the run.", j.findings.problems,
             j.findings.problems == 1 ? "" : "s", j.findings.remarks,
             j.findings.remarks == 1 ? "" : "s", j.findings.checks);
    if (j.misfits)
        text_add(t,
                 " The model does not describe the rows in %zu respect%s: see <a "
                 "href=\"#checks\">checks</a>.",
                 j.misfits, j.misfits == 1 ? "" : "s");
    if (j.prior_findings)
        text_add(t, " Other priors would change the results: see <a "
                    "href=\"#sensitivity\">sensitivity</a>.");
    text_add(t, "</p></div>\n");
    add_tiles(t, &j, &v->r->info);
    if (j.findings.problems + j.findings.remarks) {
        finding_counts n;
        evidence e = evidence_of(v->r, v->parameters);
        text_add(t, "<ol class=\"findings\">\n");
        if (!visit_findings(&e, add_finding, t, &n)) t->failed = true;
        text_add(t, "</ol>\n");
    }
    const char *note = v->r->info.replanned;
    if (note && *note) {
        text_add(t, "<p class=\"note\">");
        html_text(t, note);
        text_add(t, "</p>\n");
    }
}
