/* The report of `sbps check`: as text the verdict, the findings and tables of all checks; as
 * JSON every number. */
#include "output/check/check_parts.h"

#include "core/decimal.h"
#include "core/json.h"
#include "output/summary/report_text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS    79 /* of the text */
#define INDENT     3
#define ROWS_SHOWN 15 /* of tables with a row for every column or parameter */

void add_formatted(text *t, const char *format, ...)
{
    char buffer[512];
    va_list values;
    va_start(values, format);
    decimal_print_list(buffer, sizeof buffer, format, values);
    va_end(values);
    text_add(t, "%s", buffer);
}

void add_p_value(text *t, double p)
{
    if (p < 0.001)
        text_add(t, "p below 0.001");
    else
        add_formatted(t, "p %.3f", p);
}

/* ---- the verdict ---- */

/* The line on the rows and draws that were used. */
static void write_rows(const predictive_checks *c, text *t)
{
    if (c->checked == 0) return;
    text_add(t, "%zu rows", c->checked);
    size_t all = c->counted ? c->counted : c->rows - c->lacking;
    if (c->checked < all) text_add(t, " of %zu, drawn at random", all);
    if (c->counted) text_add(t, ", by the weights of %zu", c->rows - c->lacking);
    text_add(t, "; %zu replicated tables from %zu draws", c->replicates, c->draws);
    if (c->lacking) text_add(t, "; %zu rows with missing cells omitted", c->lacking);
    text_add(t, "\n");
}

/* A wrapped paragraph: `before`, `body` and a full stop. */
static void write_paragraph(text *t, size_t indent, const char *before, const char *body)
{
    text sentence = {0};
    text_add(&sentence, "%s%s.", before, body);
    if (sentence.failed)
        t->failed = true;
    else
        text_paragraph(t, COLUMNS, indent, sentence.data);
    text_free(&sentence);
}

/* The number of failed checks, and the findings. */
static void write_verdict(const predictive_checks *c, text *t)
{
    char number[32];
    if (c->identity == ROWS_OTHER)
        text_add(t,
                 "These rows are not the table of this run: they are checked as new rows.\n\n");
    if (c->prior_only)
        text_paragraph(
            t, COLUMNS, 0,
            "This is a prior-only run: the replicated tables are from the prior alone. They "
            "show "
            "which responses the priors expect; the observed table need not be typical "
            "of them.");
    else if (c->findings == 0)
        text_add(t, "All %zu checks of model %s passed.\n", checks_count(c), c->model);
    else
        text_add(t, "%zu of %zu checks of model %s failed (marked *): %zu finding%s.\n\n",
                 checks_failed(c), checks_count(c), c->model, c->findings,
                 c->findings == 1 ? "" : "s");
    for (size_t k = 0; k < c->findings; k++) {
        snprintf(number, sizeof number, "%zu. ", k + 1);
        write_paragraph(t, INDENT, number, c->finding[k].seen);
        text_spaces(t, INDENT);
        write_paragraph(t, INDENT, "What to do: ", c->finding[k].remedy);
    }
    text_add(t, "\n");
    write_rows(c, t);
}

/* ---- tables ---- */

/* The mark of a failed check in a table. */
static const char *marker_of(bool off)
{
    return off ? " *" : "";
}

/* A row per statistic: observed, mean and 95 % of replicated tables, p. */
static void write_statistics(const predictive_checks *c, text *t)
{
    if (c->statistics == 0) return;
    text_add(t, "\n%-12s %10s %10s %22s %8s\n", "statistic", "observed", "replicated", "95 %",
             "p");
    for (size_t k = 0; k < c->statistics; k++) {
        const check_statistic *s = &c->statistic[k];
        add_formatted(t, "%-12s %10.4g %10.4g %10.4g to %8.4g", s->name, s->observed, s->mean,
                      s->low, s->high);
        if (isnan(s->p))
            text_add(t, " %8s\n", "-");
        else
            add_formatted(t, " %8.3f%s\n", s->p, marker_of(s->off));
    }
}

#define PANELS_SHOWN 3 /* classes with a table each; with more a line each */

/* The title of a panel with its p value and mark. */
static void write_title(const check_panel *p, const char *title, text *t)
{
    text_add(t, "\n%s", title);
    if (p->of) text_add(t, " of '%s'", p->of);
    text_add(t, " (");
    add_p_value(t, p->p);
    text_add(t, ")%s", marker_of(p->off));
}

/* Only the worst cell of each panel. */
static void write_worst(const check_panels *all, const char *title, text *t)
{
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        const check_cell *c = &p->cell[p->worst];
        write_title(p, title, t);
        if (p->off && !isnan(p->trend_z)) add_formatted(t, ", z of its trend %.1f", p->trend_z);
        add_formatted(t, ":\n   worst: %.4g from %.4g to %.4g, replicated %.4g to %.4g",
                      c->observed, c->from, c->to, c->low, c->high);
    }
    if (all->count) text_add(t, "\n");
}

/* All cells of each panel. */
static void write_cells(const check_panels *all, const char *title, const char *by, text *t)
{
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        write_title(p, title, t);
        text_add(t, "\n%-20s %7s %9s %9s %18s %6s\n", by, "rows", "observed", "expected",
                 "95 %", "z");
        for (size_t c = 0; c < p->count; c++) {
            const check_cell *of = &p->cell[c];
            add_formatted(t, "%8.4g to %8.4g %7zu %9.4g %9.4g %7.3g to %7.3g %6.1f\n", of->from,
                          of->to, of->rows, of->observed, of->expected, of->low, of->high,
                          of->z);
        }
    }
}

/* Long tables show their first rows, and all rows that failed. */
static bool is_shown(size_t k, bool off)
{
    return k < ROWS_SHOWN || off;
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The column of a panel, and its class in parentheses; malloced, NULL when memory runs out. */
static char *panel_name(const check_panel *p)
{
    text name = {0};
    text_add(&name, "%s", p->of);
    if (p->class) text_add(&name, " (%s)", p->class);
    return text_take(&name);
}

/* A row on one column: z of its curve, p, and the worst cell. */
static void write_residual(const check_panel *p, const char *name, size_t width, text *t)
{
    const check_cell *c = &p->cell[p->worst];
    text_padded_name(t, name, width);
    if (isnan(p->trend_z))
        text_add(t, " %6s", "");
    else
        add_formatted(t, " %6.1f", p->trend_z);
    add_formatted(t, " %8.3f%s  z %.1f at ", p->p, p->off ? "*" : " ", c->z);
    if (c->label)
        text_name(t, c->label);
    else if (c->from == c->to)
        add_formatted(t, "%.4g", c->from);
    else
        add_formatted(t, "%.4g to %.4g", c->from, c->to);
    text_add(t, "\n");
}

/* The table of residuals, a row per column and class. */
static void write_residuals(const check_panels *all, text *t)
{
    size_t width = 23, left_out = 0;
    if (all->count == 0) return;
    for (size_t k = 0; k < all->count; k++) {
        char *name = is_shown(k, all->panel[k].off) ? panel_name(&all->panel[k]) : NULL;
        if (name) width = larger_of(width, text_columns(name));
        free(name);
    }
    text_add(t, "\n");
    text_padded_name(t, "residuals along", width);
    text_add(t, " %6s %8s   %s\n", "curve", "p", "worst cell");
    for (size_t k = 0; k < all->count; k++) {
        bool listed = is_shown(k, all->panel[k].off);
        char *name = listed ? panel_name(&all->panel[k]) : NULL;
        if (name) write_residual(&all->panel[k], name, width, t);
        if (listed && !name) t->failed = true;
        left_out += !listed;
        free(name);
    }
    if (left_out > 0) text_add(t, "and %zu more: --json lists all\n", left_out);
}

/* Two lines on the leave-one-out PIT. */
static void write_pit(const check_pit *p, text *t)
{
    if (p->rows == 0) return;
    add_formatted(t, "\nLOO-PIT: %.3g from uniform (", p->ks);
    add_p_value(t, p->p);
    add_formatted(t, ")%s; z of its mean %.1f, of its variance %.1f;\n", marker_of(p->off),
                  p->mean_z, p->spread_z);
    text_add(t, "         %zu of %zu rows with Pareto k above 0.7\n", p->untrusted, p->rows);
}

/* The table of power scaling, a row per parameter. */
static void write_sensitivity(const predictive_checks *c, text *t)
{
    size_t width = 31;
    if (c->sensitivities == 0) return;
    size_t left_out = 0;
    for (size_t k = 0; k < c->sensitivities; k++)
        if (is_shown(k, is_sensitive(&c->sensitivity[k])))
            width = larger_of(width, text_columns(c->sensitivity[k].name));
    text_add(t, "\n");
    text_padded_name(t, "power scaling of", width);
    text_add(t, " %8s %10s  %s\n", "prior", "likelihood", "diagnosis");
    for (size_t k = 0; k < c->sensitivities; k++) {
        const check_sensitivity *s = &c->sensitivity[k];
        bool off = is_sensitive(s);
        if (!is_shown(k, off)) {
            left_out++;
            continue;
        }
        text_padded_name(t, s->name, width);
        add_formatted(t, " %8.3f %10.3f  %s%s\n", s->by_prior, s->by_likelihood, s->diagnosis,
                      marker_of(off));
    }
    if (left_out > 0) text_add(t, "and %zu more: --json lists all\n", left_out);
    if (c->likelihood_noise > 0.5)
        text_add(t, "the run's log likelihoods are estimates with errors as large as their "
                    "differences:\n"
                    "sensitivity to the likelihood is underestimated\n");
}

static void write_checks_text(const predictive_checks *c, text *t)
{
    write_verdict(c, t);
    write_statistics(c, t);
    /* Calibration: a table per class, or a line per class if there are many. */
    if (c->calibration.count > PANELS_SHOWN)
        write_worst(&c->calibration, "calibration", t);
    else
        write_cells(&c->calibration, "calibration", "predicted", t);
    write_cells(&c->rootogram, "rootogram: rows by their count", "from, to below", t);
    write_worst(&c->density, "density: rows", t);
    write_worst(&c->spread, "spread: squared standardised residuals", t);
    write_residuals(&c->residuals, t);
    write_pit(&c->pit, t);
    write_sensitivity(c, t);
}

/* ---- JSON ---- */

/* JSON members: ", key: value"; json_* write objects and arrays. */
static void member(text *t, const char *key, double value)
{
    text_add(t, ", \"%s\": ", key);
    json_number(t, value);
}

static void member_text(text *t, const char *before, const char *key, const char *value)
{
    text_add(t, "%s\"%s\": ", before, key);
    if (value)
        json_string(t, value);
    else
        text_add(t, "null");
}

static void member_switch(text *t, const char *key, bool value)
{
    text_add(t, ", \"%s\": %s", key, value ? "true" : "false");
}

static void json_cell(text *t, const check_cell *c)
{
    member_text(t, "{", "label", c->label);
    member(t, "from", c->from);
    member(t, "to", c->to);
    member(t, "rows", (double)c->rows);
    member(t, "observed", c->observed);
    member(t, "expected", c->expected);
    member(t, "low", c->low);
    member(t, "high", c->high);
    member(t, "z", c->z);
    text_add(t, "}");
}

static void json_panels(text *t, const char *key, const check_panels *all)
{
    text_add(t, ",\n \"%s\": [", key);
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        member_text(t, k ? ",\n  {" : "\n  {", "of", p->of);
        member_text(t, ", ", "class", p->class);
        member(t, "p", p->p);
        member(t, "bend", p->trend_z);
        member(t, "worst", (double)p->worst);
        member_switch(t, "off", p->off);
        text_add(t, ", \"cells\": [");
        for (size_t c = 0; c < p->count; c++) {
            text_add(t, c ? ",\n    " : "\n    ");
            json_cell(t, &p->cell[c]);
        }
        text_add(t, "]}");
    }
    text_add(t, "]");
}

static void json_statistics(text *t, const predictive_checks *c)
{
    text_add(t, ",\n \"statistics\": [");
    for (size_t k = 0; k < c->statistics; k++) {
        const check_statistic *s = &c->statistic[k];
        member_text(t, k ? ",\n  {" : "\n  {", "name", s->name);
        member(t, "observed", s->observed);
        member(t, "mean", s->mean);
        member(t, "sd", s->sd);
        member(t, "low", s->low);
        member(t, "high", s->high);
        member(t, "p", s->p);
        member_switch(t, "off", s->off);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void json_pit(text *t, const check_pit *p)
{
    text_add(t, ",\n \"pit\": {\"rows\": %zu", p->rows);
    member(t, "ks", p->ks);
    member(t, "p", p->p);
    member_switch(t, "off", p->off);
    member(t, "mean_z", p->mean_z);
    member(t, "spread_z", p->spread_z);
    member(t, "khat_above", (double)p->untrusted);
    member(t, "low", p->low);
    member(t, "high", p->high);
    text_add(t, ", \"bars\": [");
    for (size_t k = 0; k < PIT_BARS; k++) {
        if (k) text_add(t, ", ");
        json_number(t, p->bar[k]);
    }
    text_add(t, "]}");
}

static void json_sensitivity(text *t, const predictive_checks *c)
{
    text_add(t, ",\n \"sensitivity\": [");
    for (size_t k = 0; k < c->sensitivities; k++) {
        const check_sensitivity *s = &c->sensitivity[k];
        member_text(t, k ? ",\n  {" : "\n  {", "parameter", s->name);
        member_text(t, ", ", "of", s->prior);
        member(t, "prior", s->by_prior);
        member(t, "likelihood", s->by_likelihood);
        member_text(t, ", ", "diagnosis", s->diagnosis);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void json_findings(text *t, const predictive_checks *c)
{
    text_add(t, "{\"findings\": [");
    for (size_t k = 0; k < c->findings; k++) {
        member_text(t, k ? ",\n  {" : "\n  {", "seen", c->finding[k].seen);
        member_text(t, ", ", "remedy", c->finding[k].remedy);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void checks_json(const predictive_checks *c, text *t)
{
    json_findings(t, c);
    text_add(t, ",\n \"checks\": %zu, \"checks_off\": %zu", checks_count(c), checks_failed(c));
    if (c->prior_only) member_switch(t, "prior_only", true);
    member_text(t, ", ", "model", c->model);
    member_text(t, ", ", "target", c->target);
    member(t, "rows", (double)c->rows);
    member(t, "rows_looked_at", (double)c->checked);
    member(t, "rows_left_out", (double)c->lacking);
    if (c->rows > 0) identity_json(t, c->identity);
    member(t, "draws", (double)c->draws);
    member(t, "replicates", (double)c->replicates);
    member(t, "negative_binomial_zeros", c->negative_binomial_zeros);
    member(t, "likelihood_noise", c->likelihood_noise);
    json_statistics(t, c);
    json_panels(t, "calibration", &c->calibration);
    json_panels(t, "rootogram", &c->rootogram);
    json_panels(t, "density", &c->density);
    json_panels(t, "spread", &c->spread);
    json_panels(t, "residuals", &c->residuals);
    json_pit(t, &c->pit);
    json_sensitivity(t, c);
    text_add(t, "}\n");
}

void checks_write(const predictive_checks *c, sbps_format format, text *t)
{
    (format == SBPS_JSON ? checks_json : write_checks_text)(c, t);
}
