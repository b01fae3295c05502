/* What is wrong with a run, in words: every check in turn, its findings numbered. */
#include "base/decimal.h"
#include "report/checks.h"
#include "report/fields.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS 79
#define INDENT  3

typedef void finding_writer(text *t, size_t number, const char *seen, const check *c,
                            bool band);

static const char *remedy_of(const check *c, bool band)
{
    return band || !c->remedy_without_band ? c->remedy : c->remedy_without_band;
}

static void add_finding(text *t, size_t number, const char *seen, const check *c, bool band)
{
    text sentence = {0};
    const char *remedy = remedy_of(c, band);
    text_add(&sentence, "%zu. %s.", number, seen);
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
    text_paragraph(t, COLUMNS, INDENT, remedy);
    text_add(t, "\n");
}

static void add_member(text *t, const char *key, const char *value, const char *behind)
{
    text_add(t, "\"%s\": ", key);
    json_string(t, value);
    text_add(t, "%s", behind);
}

static void add_json_finding(text *t, size_t number, const char *seen, const check *c,
                             bool band)
{
    text_add(t, number > 1 ? ",\n    {" : "\n    {");
    add_member(t, "seen", seen, ", ");
    add_member(t, "meaning", c->meaning, ", ");
    add_member(t, "remedy", remedy_of(c, band), "}");
}

/* The extreme of a column; NAN when there is none. */
static double extreme(const evidence *e, size_t offset, double (*worse)(double, double))
{
    double worst = NAN; /* fmin and fmax pass over NAN */
    for (size_t j = 0; j < e->r->dim; j++)
        worst = worse(worst, *(const double *)((const char *)&e->parameters[j] + offset));
    return worst;
}

static double farther(double a, double b)
{
    return fmax(a, fabs(b));
}

static void add_measured(text *t, const char *what, double value, const char *unit)
{
    text_add(t, "   %-26s ", what);
    text_measure(t, value);
    text_add(t, "%s\n", unit);
}

static void add_all_clear(text *t, const evidence *e)
{
    const result_info *info = &e->r->info;
    double draws_ess = fmin(extreme(e, offsetof(sbps_parameter, ess_bulk), fmin),
                            extreme(e, offsetof(sbps_parameter, ess_tail), fmin));
    text_add(t, "Nothing wrong was found. Looked at, among others:\n");
    text_add(t, "   %-26s %.4g\n", "largest R-hat",
             extreme(e, offsetof(sbps_parameter, rhat), fmax));
    text_add(t, "   %-26s ", "smallest ESS of the path");
    text_count(t, info->min_ess);
    text_add(t, " (wanted %.0f)\n   %-26s ", wanted_ess(info), "smallest ESS of the draws");
    text_count(t, draws_ess);
    text_add(t, "\n");
    text_add(t, "   %-26s ", "stated bias");
    text_estimate(t, info->bias_estimate, info->bias_estimate_se);
    text_add(t, " posterior sd\n");
    add_measured(t, "bias budget", info->bias_budget, " posterior sd");
    add_measured(t, "largest bias of one mean",
                 extreme(e, offsetof(sbps_parameter, bias), farther), " posterior sd");
    add_measured(t, "largest bias of one sd",
                 100.0 * extreme(e, offsetof(sbps_parameter, sd_bias), farther), "% of it");
    if (!(info->bounces > 0.0)) { /* a sampler in discrete time */
        text_add(t, "\n");
        return;
    }
    if (!isnan(
            info->band)) /* what exceeds the band matters by this alone: the bias is made of it */
        add_measured(t, "bounces that were missed",
                     100.0 * info->missing_bounces / info->bounces, "% of bounces");
    add_measured(t, "bounces", 100.0 * info->bounces / info->proposals, "% of proposals");
    add_measured(t, "refreshments", 100.0 * info->refreshments / info->bounces, "% of bounces");
    text_add(t, "\n");
}

static void add_counts(text *t, size_t findings, size_t checks, const result *r)
{
    text_add(t, "%zu %s in %zu checks of %zu parameters, %zu chains, %zu draws.\n", findings,
             findings == 1 ? "finding" : "findings", checks, r->dim, r->chains,
             r->chains * r->draws);
}

/* Returns the number of findings. */
static size_t add_findings(text *t, const evidence *e, finding_writer *write, size_t *checks)
{
    size_t findings = 0;
    text seen = {0};
    bool band = !isnan(e->r->info.band);
    *checks = 0;
    for (const check *c = run_checks; c->found; c++, ++*checks) {
        text_cut(&seen, 0);
        bool found = c->found(e, &seen);
        if (seen.failed) t->failed = true;
        if (found && !seen.failed) write(t, ++findings, seen.data, c, band);
    }
    text_free(&seen);
    return findings;
}

static size_t add_diagnosis(text *t, const evidence *e)
{
    size_t checks, findings = add_findings(t, e, add_finding, &checks);
    if (findings == 0) add_all_clear(t, e);
    add_counts(t, findings, checks, e->r);
    return findings;
}

static size_t add_json_diagnosis(text *t, const evidence *e)
{
    size_t checks;
    text_add(t, "{\n  \"findings\": [");
    size_t findings = add_findings(t, e, add_json_finding, &checks);
    text_add(t, "%s],\n  \"checks\": %zu\n}\n", findings ? "\n  " : "", checks);
    return findings;
}

sbps_status report_diagnose(const result *r, sbps_format format, char **out, size_t *findings,
                            sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    *out = NULL;
    if (format != SBPS_TEXT && format != SBPS_JSON)
        return fail(err, SBPS_BAD_ARG, "%d is no format of a diagnosis", (int)format);
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto done;
    const evidence e = {r, parameters};
    size_t count = (format == SBPS_JSON ? add_json_diagnosis : add_diagnosis)(&t, &e);
    numbers_end(&locale);
    if (findings) *findings = count;
    status = text_give(&t, out, err);
done:
    free(parameters);
    return status;
}
