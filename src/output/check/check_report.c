/* Checks, told: the verdict, what is off, then tables. */
#include "output/check/findings.h"

#include "output/summary/report_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS    79
#define INDENT     3
#define ROWS_SHOWN 15 /* of tables that have a row for every column or parameter */

/* ---- the verdict ---- */

size_t checks_count(const predictive_checks *c)
{
    return c->calibration.count + c->rootogram.count + c->density.count + c->spread.count +
           c->residuals.count + c->statistics + (c->pit.rows > 0) + c->sensitivities;
}

static void write_rows(const predictive_checks *c, text *t)
{
    if (c->checked == 0) return;
    text_add(t, "%zu rows", c->checked);
    size_t all = c->counted ? c->counted : c->rows - c->lacking;
    if (c->checked < all) text_add(t, " of %zu, drawn at random", all);
    if (c->counted) text_add(t, ", by the weights of %zu", c->rows - c->lacking);
    text_add(t, "; %zu replicated tables by %zu draws", c->replicates, c->draws);
    if (c->lacking) text_add(t, "; %zu rows with missing cells left out", c->lacking);
    text_add(t, "\n");
}

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

static void write_verdict(const predictive_checks *c, text *t)
{
    char number[32];
    if (c->identity == ROWS_OTHER)
        text_add(t,
                 "These rows are not the table of this run: they are checked as rows that it "
                 "has not seen.\n\n");
    if (c->findings == 0)
        text_add(t, "Nothing is off in %zu checks of model %s.\n", checks_count(c), c->model);
    else
        text_add(t, "%zu of %zu checks of model %s %s off (marked *): %zu finding%s.\n\n",
                 checks_off(c), checks_count(c), c->model, checks_off(c) == 1 ? "is" : "are",
                 c->findings, c->findings == 1 ? "" : "s");
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

static const char *marker_of(bool off)
{
    return off ? " *" : "";
}

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

#define PANELS_SHOWN 3 /* classes: of more a line each */

static void write_title(const check_panel *p, const char *title, text *t)
{
    text_add(t, "\n%s", title);
    if (p->of) text_add(t, " of '%s'", p->of);
    text_add(t, " (");
    add_p_value(t, p->p);
    text_add(t, ")%s", marker_of(p->off));
}

/* Its worst cell alone. */
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

static void write_calibration(const check_panels *all, text *t)
{
    if (all->count > PANELS_SHOWN)
        write_worst(all, "calibration", t);
    else
        write_cells(all, "calibration", "predicted", t);
}

/* Of long tables the first rows are shown, and all that are off. */
static bool is_shown(size_t k, bool off)
{
    return k < ROWS_SHOWN || off;
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of a panel: its column, and its class in parentheses; NULL: no memory. */
static char *panel_name(const check_panel *p)
{
    text name = {0};
    text_add(&name, "%s", p->of);
    if (p->class) text_add(&name, " (%s)", p->class);
    return text_take(&name);
}

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
    if (left_out > 0) text_add(t, "and %zu more: --json has all\n", left_out);
}

static void write_pit(const check_pit *p, text *t)
{
    if (p->rows == 0) return;
    add_formatted(t, "\nLOO-PIT: %.3g off uniform (", p->ks);
    add_p_value(t, p->p);
    add_formatted(t, ")%s; z of its mean %.1f, of its spread %.1f;\n", marker_of(p->off),
                  p->mean_z, p->spread_z);
    text_add(t, "         %zu of %zu rows with Pareto k above 0.7\n", p->untrusted, p->rows);
}

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
    if (left_out > 0) text_add(t, "and %zu more: --json has all\n", left_out);
    if (c->likelihood_noise > 0.5)
        text_add(t, "the run's log likelihoods are estimates whose errors are as large as what "
                    "they differ by:\nsensitivity to the likelihood is told too small\n");
}

static void write_text(const predictive_checks *c, text *t)
{
    write_verdict(c, t);
    write_statistics(c, t);
    write_calibration(&c->calibration, t);
    write_cells(&c->rootogram, "rootogram: rows by their count", "from, to below", t);
    write_worst(&c->density, "density: rows", t);
    write_worst(&c->spread, "spread: squares of scaled residuals", t);
    write_residuals(&c->residuals, t);
    write_pit(&c->pit, t);
    write_sensitivity(c, t);
}

void checks_write(const predictive_checks *c, sbps_format format, text *t)
{
    (format == SBPS_JSON ? checks_json : write_text)(c, t);
}
