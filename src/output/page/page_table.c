/* What is computed from the table of a run, and its sections: leave-one-out, and how far each
 * posterior moves when the prior, or the likelihood, has more or less weight. */
#include "output/page/page_table.h"

#include "core/threads.h"
#include "linalg/pareto.h"
#include "output/page/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 700, HEIGHT = 240, MAX_DOTS = 500 };

sbps_status page_table_open(const result *r, const char *run, const char *data,
                            const sbps_scoring *how, page_table **out, sbps_error *err)
{
    double begin = clock_now();
    page_table *t = *out = calloc(1, sizeof *t);
    if (!t) return fail_memory(err);
    if (result_prior_only(r)) data = NULL; /* the table says nothing about these draws */
    t->rows = data != NULL;
    sbps_status status = checks_make(r, run, data, how, &t->left_out, &t->checks, err);
    if (status == SBPS_OK && data) status = loo_compute_totals(&t->left_out, &t->totals, err);
    t->seconds = clock_now() - begin;
    if (status == SBPS_OK) return SBPS_OK;
    page_table_close(t);
    *out = NULL;
    return status;
}

void page_table_close(page_table *t)
{
    if (!t) return;
    loo_clear(&t->left_out);
    checks_clear(&t->checks);
    free(t);
}

bool page_has_rows(const view *v)
{
    return v->table && v->table->rows;
}

bool page_has_own_rows(const view *v)
{
    return page_has_rows(v) && v->table->checks.identity != ROWS_OTHER;
}

/* The number of findings on priors, or of the others. */
static size_t count_findings(const view *v, bool of_priors)
{
    size_t count = 0;
    for (size_t k = 0; page_has_rows(v) && k < v->table->checks.findings; k++)
        count += v->table->checks.finding[k].of_priors == of_priors;
    return count;
}

size_t page_misfits(const view *v)
{
    return count_findings(v, false);
}

size_t page_prior_findings(const view *v)
{
    return count_findings(v, true);
}

bool page_has_sensitivity(const view *v)
{
    return v->table && v->table->checks.sensitivities > 0;
}

double page_table_seconds(const view *v)
{
    return page_has_rows(v) ? v->table->seconds : NAN;
}

/* ---- leave-one-out ---- */

/* Table row of an estimate. */
static void add_estimate_row(text *t, const char *name, const char *meaning, double value,
                             double error)
{
    text_add(t,
             "<tr><th scope=\"row\">%s</th><td>%.1f</td><td>%.1f</td><td class=\"left\">%s"
             "</td></tr>\n",
             name, value, error, meaning);
}

/* Table of elpd, p_loo and looic. */
static void add_totals(text *t, const loo_totals *totals)
{
    text_add(
        t, "<div class=\"wide\"><table><caption>Leave-one-out</caption>\n<thead><tr>"
           "<th scope=\"col\">estimate</th><th scope=\"col\">value</th>"
           "<th scope=\"col\">standard error</th><th scope=\"col\" class=\"left\">meaning</th>"
           "</tr></thead>\n<tbody>\n");
    add_estimate_row(t, "elpd_loo",
                     "sum of log densities of each row, predicted from the others",
                     totals->elpd.sum, totals->elpd.error);
    add_estimate_row(t, "p_loo", "effective number of parameters", totals->p.sum,
                     totals->p.error);
    add_estimate_row(t, "looic", "-2 elpd_loo", -2.0 * totals->elpd.sum,
                     2.0 * totals->elpd.error);
    text_add(t, "</tbody></table></div>\n");
}

/* Points of the chart; of many rows only the largest k in each run of neighbours. */
static size_t thin_k(const loo *l, double *x, double *y)
{
    size_t count = l->count < MAX_DOTS ? l->count : MAX_DOTS, filled = 0;
    for (size_t b = 0; b < count; b++) {
        size_t worst = l->count * b / count, end = l->count * (b + 1) / count;
        for (size_t j = worst; j < end; j++)
            if (l->k[j] > l->k[worst]) worst = j;
        if (!isfinite(l->k[worst])) continue;
        x[filled] = (double)loo_row(l, worst);
        y[filled++] = l->k[worst];
    }
    return filled;
}

/* Chart of Pareto k by row, with its limit. */
static void draw_k(text *t, const loo *l)
{
    double x[MAX_DOTS], y[MAX_DOTS];
    size_t count = thin_k(l, x, y);
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = 0, .high = (double)l->places, .from = 44, .to = WIDTH - 12},
              {.low = -0.2, .high = 1.0, .from = HEIGHT - 36, .to = 8}};
    for (size_t i = 0; i < count; i++) {
        p.y.low = fmin(p.y.low, y[i]);
        p.y.high = fmax(p.y.high, 1.05 * y[i]);
    }
    plot_open(&p, "plot broad", "Pareto k of %zu rows, %zu of them above %.1f", l->count,
              loo_count_above(l), PARETO_TRUSTED);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, 6, "row");
    plot_level(&p, "expected", PARETO_TRUSTED);
    text_add(t, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">limit</text>", p.x.to,
             axis_place(&p.y, PARETO_TRUSTED) - 4.0);
    plot_dots(&p, "dots", count, x, y, 1);
    plot_close(&p);
}

/* Caption with the rows of largest k. */
static void add_worst(text *t, const loo *l)
{
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst);
    text_add(t, "<figcaption>");
    if (l->count > MAX_DOTS)
        text_add(t, "Each dot is the largest k of about %zu rows. ", l->count / MAX_DOTS);
    text_add(t, "Largest:");
    for (size_t j = 0; j < count; j++)
        text_add(t, "%s row %zu (%.2f)", j ? "," : "", loo_row(l, worst[j]), l->k[worst[j]]);
    text_add(t, "</figcaption>");
}

/* Part of a sentence: evaluated and omitted rows. */
static void add_row_counts(text *t, const loo *l)
{
    if (l->count < l->rows) {
        text_add(t, "A random sample of ");
        html_count(t, (double)l->count);
        text_add(t, " of ");
        html_count(t, (double)l->rows);
        text_add(t, " rows was evaluated");
    } else {
        text_add(t, "All ");
        html_count(t, (double)l->rows);
        text_add(t, " rows were evaluated");
    }
    if (l->lacking > 0) text_add(t, "; %zu more have missing cells", l->lacking);
}

void page_loo(text *t, const view *v)
{
    const page_table *table = v->table;
    const loo *l = &table->left_out;
    size_t above = loo_count_above(l);
    text_add(t, "<p>How well each row is predicted by the others, from the stored draws "
                "(Pareto-smoothed importance sampling). ");
    add_row_counts(t, l);
    text_add(t, ", with %zu draws. ", l->draws);
    if (above == 0)
        text_add(t, "No row has a Pareto k above %.1f: these estimates are reliable.",
                 PARETO_TRUSTED);
    else
        text_add(t,
                 "%zu of them %s a Pareto k above %.1f: the posterior without such a row "
                 "differs too "
                 "much from the full one, and its part of these estimates is unreliable.",
                 above, above == 1 ? "has" : "have", PARETO_TRUSTED);
    text_add(t, "</p>\n");
    add_totals(t, &table->totals);
    text_add(t, "<figure class=\"single\">");
    draw_k(t, l);
    add_worst(t, l);
    text_add(t, "</figure>\n");
}

/* ---- sensitivity ---- */

#define THRESHOLD 0.05

/* A distance; marked if `high`. */
static void add_distance(text *t, double value, bool high)
{
    if (isnan(value))
        text_add(t, "<td>-</td>");
    else
        text_add(t, "<td%s>%.3f</td>", high ? " class=\"high\"" : "", value);
}

/* Table row of a parameter: sensitivity to prior and likelihood, and diagnosis. */
static void add_sensitivity_row(text *t, const check_sensitivity *s)
{
    text_add(t, "<tr>");
    html_row_name(t, s->name);
    add_distance(t, s->by_prior, is_sensitive(s));
    add_distance(t, s->by_likelihood, false);
    text_add(t, "<td class=\"left\">");
    html_text(t, s->diagnosis);
    text_add(t, "</td></tr>\n");
}

/* True if a parameter is listed: all are if there are few, else the sensitive ones. */
static bool is_listed(const predictive_checks *c, size_t k)
{
    return c->sensitivities <= MAX_ROWS || is_sensitive(&c->sensitivity[k]);
}

/* Explains power scaling and summarises the result. */
static void add_explanation(text *t, const predictive_checks *c)
{
    size_t sensitive = 0;
    for (size_t k = 0; k < c->sensitivities; k++) sensitive += is_sensitive(&c->sensitivity[k]);
    text_add(
        t,
        "<p>Power scaling: how far the posterior of each parameter moves when its prior, or "
        "the "
        "likelihood, is raised to a power near 1. From %.2f on a posterior is sensitive to "
        "its prior; sensitivity to the likelihood is expected. ",
        THRESHOLD);
    if (sensitive == 0)
        text_add(t, "No posterior is sensitive to its prior.");
    else
        text_add(
            t,
            "%zu of %zu %s sensitive to the prior: check that the prior states what is known.",
            sensitive, c->sensitivities, sensitive == 1 ? "is" : "are");
    if (c->likelihood_noise > 0.5)
        text_add(
            t, " Log likelihoods of this run are estimates whose errors are as large as their "
               "differences: sensitivity to the likelihood is underestimated.");
    text_add(t, "</p>\n");
}

void page_sensitivity(text *t, const view *v)
{
    const predictive_checks *c = &v->table->checks;
    size_t listed = 0;
    add_explanation(t, c);
    for (size_t k = 0; k < c->sensitivities; k++) listed += is_listed(c, k);
    if (listed == 0) return;
    text_add(t, "<div class=\"wide\"><table class=\"sortable\"><caption>Sensitivity by power "
                "scaling</caption>\n<thead><tr><th scope=\"col\">parameter</th>"
                "<th scope=\"col\">to the prior</th><th scope=\"col\">to the likelihood</th>"
                "<th scope=\"col\" class=\"left\">diagnosis</th></tr></thead>\n<tbody>\n");
    listed = 0;
    for (size_t k = 0; k < c->sensitivities && listed < MAX_ROWS; k++)
        if (is_listed(c, k)) {
            add_sensitivity_row(t, &c->sensitivity[k]);
            listed++;
        }
    text_add(t, "</tbody></table></div>\n");
}
