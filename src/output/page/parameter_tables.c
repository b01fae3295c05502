/* Sections with one table row per parameter: intervals of coefficients, stated bias and Monte
 * Carlo error, and a plain table of all parameters. Places in charts are percentages, so that a
 * chart is as wide as its column. */
#include "estimate/diagnostics.h"
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <math.h>
#include <stdlib.h>

/* ---- intervals ---- */

#define UNEVEN 100.0 /* range over median width from which the scale is compressed */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median width of the 90 % intervals that are shown; `scratch` has room for MAX_ROWS. */
static double median_width(const view *v, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < v->shown_count; i++)
        if (view_varies(v, v->shown[i]))
            scratch[count++] = v->parameters[v->shown[i]].q95 - v->parameters[v->shown[i]].q5;
    qsort(scratch, count, sizeof *scratch, compare_doubles);
    return count ? scratch[count / 2] : 1.0;
}

/* The scale of the intervals; it contains 0. */
static axis interval_scale(const view *v)
{
    double scratch[MAX_ROWS];
    axis a = {.low = 0.0, .high = 0.0, .from = 2.0, .to = 98.0};
    for (size_t i = 0; i < v->shown_count; i++) {
        const sbps_parameter *p = &v->parameters[v->shown[i]];
        if (!view_varies(v, v->shown[i])) continue;
        a.low = fmin(a.low, p->q5);
        a.high = fmax(a.high, p->q95);
    }
    double width = median_width(v, scratch);
    if (a.high - a.low > UNEVEN * width) a.unit = width;
    if (!(a.high > a.low)) a.high = a.low + 1.0;
    return a;
}

/* Tick labels of the interval column. */
static void add_tick_labels(text *t, const axis *a)
{
    double ticks[MAX_TICKS];
    size_t count = axis_ticks(a, 6, ticks);
    text_add(t, "<svg class=\"ticks\" aria-hidden=\"true\">");
    for (size_t i = 0; i < count; i++)
        text_add(t, "<text class=\"mid\" x=\"%.1f%%\" y=\"14\">%.3g</text>",
                 axis_place(a, ticks[i]), fabs(ticks[i]) < 1e-12 ? 0.0 : ticks[i]);
    text_add(t, "</svg>");
}

/* Interval of parameter j: coloured if the 90 % interval excludes 0. */
static void add_interval(text *t, const view *v, size_t j, const axis *a)
{
    const sbps_parameter *p = &v->parameters[j];
    size_t n = view_draws(v);
    const double *sorted = view_sorted(v, j);
    bool clear = p->q5 > 0.0 || p->q95 < 0.0;
    text_add(t,
             "<svg class=\"bar%s\" aria-hidden=\"true\">"
             "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"50%%\" y2=\"50%%\"/>",
             clear ? " clear" : "", axis_place(a, p->q5), axis_place(a, p->q95));
    text_add(t,
             "<line class=\"core\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"50%%\" y2=\"50%%\"/>"
             "<circle cx=\"%.2f%%\" cy=\"50%%\" r=\"3.5\"/></svg>",
             axis_place(a, quantile_sorted(n, sorted, 0.25)),
             axis_place(a, quantile_sorted(n, sorted, 0.75)), axis_place(a, p->q50));
}

/* Table row: interval and summary of parameter j. */
static void add_forest_row(text *t, const view *v, size_t j, const axis *a)
{
    static const char *const columns[] = {"mean", "mcse", "sd",       "q5",       "q50",
                                          "q95",  "bias", "ess_bulk", "ess_tail", "rhat"};
    const sbps_parameter *p = &v->parameters[j];
    text_add(t, "<tr>");
    html_row_name(t, p->name);
    text_add(t, "<td class=\"drawn\">");
    if (view_varies(v, j)) add_interval(t, v, j, a);
    text_add(t, "</td>");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) html_number(t, p, columns[k]);
    text_add(t, "</tr>\n");
}

void page_forest(text *t, const view *v)
{
    axis a = interval_scale(v);
    text_add(
        t, "<p>Bars reach from the 5 %% to the 95 %% quantile, their thick part from 25 %% to "
           "75 %%; the dot is the median. They are coloured if the 90 %% interval excludes 0.");
    if (a.unit > 0.0)
        text_add(
            t,
            " Coefficients differ widely in size: the scale is compressed towards its ends.");
    if (v->shown_count < v->r->dim)
        text_add(t,
                 " Of %zu parameters, %zu are shown: those farthest from 0, in posterior sd, "
                 "and the "
                 "one with the smallest ESS. The table at the end has all.",
                 v->r->dim, v->shown_count);
    text_add(
        t,
        "</p>\n<div class=\"wide\"><table class=\"sortable forest\" style=\"--zero:%.2f%%\">\n"
        "<caption>Posterior of each parameter</caption>\n<thead><tr>"
        "<th scope=\"col\">parameter</th><th scope=\"col\" class=\"drawn\">"
        "<span class=\"unseen\">interval</span>",
        axis_place(&a, 0.0));
    add_tick_labels(t, &a);
    text_add(t,
             "</th><th scope=\"col\">mean</th><th scope=\"col\">MCSE</th>"
             "<th scope=\"col\">sd</th><th scope=\"col\">5 %%</th><th scope=\"col\">50 %%</th>"
             "<th scope=\"col\">95 %%</th><th scope=\"col\">bias</th>"
             "<th scope=\"col\">ESS bulk</th><th scope=\"col\">ESS tail</th>"
             "<th scope=\"col\">R-hat</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < v->shown_count; i++) add_forest_row(t, v, v->shown[i], &a);
    text_add(t, "</tbody></table></div>\n");
}

/* ---- bias and Monte Carlo error ---- */

static double relative_error(const sbps_parameter *p)
{
    return p->mcse / p->sd;
}

/* The scale of the errors; it starts at 0 and contains the bias budget. */
static axis error_scale(const view *v)
{
    axis a = {.high = fmax(0.0, v->r->info.bias_budget), .from = 1.0, .to = 98.0};
    for (size_t i = 0; i < v->shown_count; i++) {
        const sbps_parameter *p = &v->parameters[v->shown[i]];
        double bias = fabs(p->bias) + (isnan(p->bias_se) ? 0.0 : p->bias_se);
        if (isfinite(bias)) a.high = fmax(a.high, bias);
        if (isfinite(relative_error(p))) a.high = fmax(a.high, relative_error(p));
    }
    if (!(a.high > 0.0)) a.high = 1.0;
    return a;
}

/* Horizontal line from `from` to `to` on the scale; `at` is its height. */
static void add_line(text *t, const axis *a, const char *kind, const char *at, double from,
                     double to)
{
    text_add(t, "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%s\" y2=\"%s\"/>", kind,
             axis_place(a, fmax(0.0, from)), axis_place(a, to), at, at);
}

/* Bars of stated bias, with its standard error, and of Monte Carlo error. */
static void add_error_bars(text *t, const sbps_parameter *p, const axis *a)
{
    text_add(t, "<svg class=\"bar two\" aria-hidden=\"true\">");
    if (isfinite(p->bias)) add_line(t, a, "bias", "32%", 0.0, fabs(p->bias));
    if (isfinite(p->bias) && p->bias_se > 0.0)
        add_line(t, a, "uncertainty", "32%", fabs(p->bias) - p->bias_se,
                 fabs(p->bias) + p->bias_se);
    if (isfinite(relative_error(p))) add_line(t, a, "chance", "70%", 0.0, relative_error(p));
    text_add(t, "</svg>");
}

/* A cell with four decimals; - for NAN. */
static void add_decimal(text *t, double value)
{
    if (isnan(value))
        text_add(t, "<td>-</td>");
    else
        text_add(t, "<td>%.4f</td>", value);
}

/* Table row: bars and errors of parameter j. */
static void add_error_row(text *t, const view *v, size_t j, const axis *a)
{
    const sbps_parameter *p = &v->parameters[j];
    text_add(t, "<tr>");
    html_row_name(t, p->name);
    text_add(t, "<td class=\"drawn\">");
    add_error_bars(t, p, a);
    text_add(t, "</td>");
    add_decimal(t, p->bias);
    add_decimal(t, p->bias_se);
    add_decimal(t, relative_error(p));
    add_decimal(t, p->sd_bias);
    add_decimal(t, p->sd_bias_se);
    text_add(t, "<td>");
    html_count(t, view_path_ess(v, j));
    text_add(t, "</td>");
    text_add(t, "</tr>\n");
}

/* Explains the ESS column, and which parameter has the smallest ESS of the verdict. */
static void add_ess_note(text *t, const view *v)
{
    text_add(t,
             " The last column is the smaller effective sample size of mean and square, from "
             "the whole path; the stored draws are a subset of it");
    if (v->slowest < v->r->dim &&
        view_path_ess(v, v->slowest) <= v->r->info.min_ess * (1.0 + 1e-9)) {
        text_add(t, ". That of <b>");
        html_text(t, view_name(v, v->slowest));
        text_add(t, "</b> is the smallest, which is in the verdict.");
    } else
        text_add(t, ". The smallest in the verdict includes internal coordinates that are not "
                    "reported.");
}

void page_errors(text *t, const view *v)
{
    axis a = error_scale(v);
    double budget = v->r->info.bias_budget;
    text_add(
        t,
        "<p>The error of each posterior mean, in posterior standard deviations. <span "
        "class=\"key "
        "bias\">Stated bias</span> is the systematic error of the sampler, as estimated during "
        "the run, with its standard error. <span class=\"key chance\">Monte Carlo error</span> "
        "is "
        "the random error, which a longer run reduces.");
    add_ess_note(t, v);
    if (budget > 0.0) text_add(t, " The dotted line is the bias budget, %.3g.", budget);
    text_add(
        t,
        "</p>\n<div class=\"wide\"><table class=\"sortable errors\" "
        "style=\"--zero:%.2f%%;--budget:%.2f%%\">\n"
        "<caption>Stated bias and Monte Carlo error, in posterior sd</caption>\n<thead><tr>"
        "<th scope=\"col\">parameter</th><th scope=\"col\" class=\"drawn\"><span "
        "class=\"unseen\">chart</span></th>"
        "<th scope=\"col\">bias</th><th scope=\"col\">its se</th><th scope=\"col\">MC "
        "error</th>"
        "<th scope=\"col\">bias of sd</th><th scope=\"col\">its se</th>"
        "<th scope=\"col\">ESS of the path</th></tr></thead>\n<tbody>\n",
        axis_place(&a, 0.0), axis_place(&a, budget));
    for (size_t i = 0; i < v->shown_count; i++) add_error_row(t, v, v->shown[i], &a);
    text_add(t, "</tbody></table></div>\n");
}

/* ---- all parameters ---- */

void page_everything(text *t, const view *v)
{
    text_add(t,
             "<div class=\"wide\"><table class=\"sortable\"><caption>Summary of all %zu "
             "parameters</caption>\n<thead><tr><th "
             "scope=\"col\">parameter</th>",
             v->r->dim);
    for (const column *c = table_columns; c->name; c++)
        text_add(t, "<th scope=\"col\">%s</th>", c->name);
    text_add(t, "</tr></thead>\n<tbody>\n");
    for (size_t j = 0; j < v->r->dim; j++) {
        text_add(t, "<tr>");
        html_row_name(t, view_name(v, j));
        for (const column *c = table_columns; c->name; c++)
            html_number(t, &v->parameters[j], c->name);
        text_add(t, "</tr>\n");
    }
    text_add(t, "</tbody></table></div>\n");
}
