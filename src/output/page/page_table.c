/* What a table says of its run; leave-one-out as a section. */
#include "output/page/page_table.h"
#include "core/clock.h"
#include "linalg/pareto.h"
#include "output/page/html.h"
#include "output/page/plot.h"

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

size_t page_priors_weigh(const view *v)
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

static void add_estimate(text *t, const char *name, const char *meaning, double value,
                         double error)
{
    text_add(t,
             "<tr><th scope=\"row\">%s</th><td>%.1f</td><td>%.1f</td><td class=\"left\">%s"
             "</td></tr>\n",
             name, value, error, meaning);
}

static void add_totals(text *t, const loo_totals *totals)
{
    text_add(t, "<div class=\"wide\"><table><caption>Leave-one-out</caption>\n<thead><tr>"
                "<th scope=\"col\">estimate</th><th scope=\"col\">value</th>"
                "<th scope=\"col\">error</th><th scope=\"col\" class=\"left\">what it is</th>"
                "</tr></thead>\n<tbody>\n");
    add_estimate(t, "elpd_loo", "log density of each row without itself, summed",
                 totals->elpd.sum, totals->elpd.error);
    add_estimate(t, "p_loo", "effective number of parameters", totals->p.sum, totals->p.error);
    add_estimate(t, "looic", "-2 elpd_loo", -2.0 * totals->elpd.sum, 2.0 * totals->elpd.error);
    text_add(t, "</tbody></table></div>\n");
}

/* Of many rows the largest k of neighbours. */
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

static void add_worst(text *t, const loo *l)
{
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst);
    text_add(t, "<figcaption>");
    if (l->count > MAX_DOTS)
        text_add(t, "Each dot has the largest k of %zu rows or so. ", l->count / MAX_DOTS);
    text_add(t, "Largest:");
    for (size_t j = 0; j < count; j++)
        text_add(t, "%s row %zu (%.2f)", j ? "," : "", loo_row(l, worst[j]), l->k[worst[j]]);
    text_add(t, "</figcaption>");
}

static void add_row_counts(text *t, const loo *l)
{
    text_add(t, "Of ");
    html_count(t, (double)l->rows);
    text_add(t, " rows ");
    if (l->count < l->rows) {
        html_count(t, (double)l->count);
        text_add(t, " were looked at, drawn at random");
    } else
        text_add(t, "all were looked at");
    if (l->lacking > 0) text_add(t, "; %zu more lack cells", l->lacking);
}

void page_loo(text *t, const view *v)
{
    const page_table *table = v->table;
    const loo *l = &table->left_out;
    size_t above = loo_count_above(l);
    text_add(t, "<p>How well each row is predicted by the others, from the stored draws "
                "(Pareto-smoothed importance sampling). ");
    add_row_counts(t, l);
    text_add(t, ", by %zu draws. ", l->draws);
    if (above == 0)
        text_add(t, "No row has a Pareto k above %.1f: these numbers can be relied on.",
                 PARETO_TRUSTED);
    else
        text_add(t,
                 "%zu of them %s a Pareto k above %.1f: without them the posterior would lie "
                 "elsewhere, and their share of these numbers is not to be relied on.",
                 above, above == 1 ? "has" : "have", PARETO_TRUSTED);
    text_add(t, "</p>\n");
    add_totals(t, &table->totals);
    text_add(t, "<figure class=\"single\">");
    draw_k(t, l);
    add_worst(t, l);
    text_add(t, "</figure>\n");
}
