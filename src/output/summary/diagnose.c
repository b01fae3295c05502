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

/* The last line: numbers of problems, remarks and checks. */
static void add_counts(text *t, const finding_counts *n, const result *r)
{
    text_add(t, "%zu problem%s, %zu remark%s in %zu checks of %zu parameters, ", n->problems,
             n->problems == 1 ? "" : "s", n->remarks, n->remarks == 1 ? "" : "s", n->checks,
             r->dim);
    text_add(t, "%zu chains, %zu draws.\n", r->chains, r->chains * r->draws);
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
    add_counts(t, n, e->r);
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
