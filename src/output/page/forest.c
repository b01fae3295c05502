/* A table whose rows are drawn: where the coefficient lies, and its numbers. Bars run from the 5 % to the 95 % quantile,
 * the thick part from 25 % to 75 %. Places are percentages, so that the picture is as wide as its column. */
#include "estimate/diagnostics.h"
#include "output/page/html.h"
#include "output/page/plot.h"
#include "output/page/sections.h"

#include <math.h>
#include <stdlib.h>

#define UNEVEN 100.0 /* the range over the median width from where on the scale is compressed */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_width(const view *v, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < v->shown_count; i++)
        if (view_varies(v, v->shown[i]))
            scratch[count++] = v->parameters[v->shown[i]].q95 - v->parameters[v->shown[i]].q5;
    qsort(scratch, count, sizeof *scratch, compare_doubles);
    return count ? scratch[count / 2] : 1.0;
}

/* 0 is always within. */
static axis scale_of(const view *v)
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

static void add_scale(text *t, const axis *a)
{
    double ticks[MAX_TICKS];
    size_t count = axis_ticks(a, 6, ticks);
    text_add(t, "<svg class=\"ticks\" aria-hidden=\"true\">");
    for (size_t i = 0; i < count; i++)
        text_add(t, "<text class=\"mid\" x=\"%.1f%%\" y=\"14\">%.3g</text>",
                 axis_place(a, ticks[i]), fabs(ticks[i]) < 1e-12 ? 0.0 : ticks[i]);
    text_add(t, "</svg>");
}

static void add_bar(text *t, const view *v, size_t j, const axis *a)
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

static void add_forest_row(text *t, const view *v, size_t j, const axis *a)
{
    static const char *const columns[] = {"mean", "mcse", "sd",       "q5",       "q50",
                                          "q95",  "bias", "ess_bulk", "ess_tail", "rhat"};
    const sbps_parameter *p = &v->parameters[j];
    text_add(t, "<tr>");
    html_row_name(t, p->name);
    text_add(t, "<td class=\"drawn\">");
    if (view_varies(v, j)) add_bar(t, v, j, a);
    text_add(t, "</td>");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) html_number(t, p, columns[k]);
    text_add(t, "</tr>\n");
}

void page_forest(text *t, const view *v)
{
    axis a = scale_of(v);
    text_add(
        t, "<p>Bars reach from the 5 %% to the 95 %% quantile, their thick part from 25 %% to "
           "75 %%, the dot is the median; coloured where the 90 %% interval leaves 0 out.");
    if (a.unit > 0.0)
        text_add(
            t, " Coefficients differ much in size: the scale is compressed towards its ends.");
    if (v->shown_count < v->r->dim)
        text_add(
            t,
            " Of %zu parameters the %zu farthest from 0, in posterior sd, of which the last "
            "gives way to the one with the smallest ESS; the table at the end has all.",
            v->r->dim, v->shown_count);
    text_add(
        t,
        "</p>\n<div class=\"wide\"><table class=\"sortable forest\" style=\"--zero:%.2f%%\">\n"
        "<caption>Posterior of each parameter</caption>\n<thead><tr>"
        "<th scope=\"col\">parameter</th><th scope=\"col\" class=\"drawn\">"
        "<span class=\"unseen\">interval</span>",
        axis_place(&a, 0.0));
    add_scale(t, &a);
    text_add(t,
             "</th><th scope=\"col\">mean</th><th scope=\"col\">MCSE</th>"
             "<th scope=\"col\">sd</th><th scope=\"col\">5 %%</th><th scope=\"col\">50 %%</th>"
             "<th scope=\"col\">95 %%</th><th scope=\"col\">bias</th>"
             "<th scope=\"col\">ESS bulk</th><th scope=\"col\">ESS tail</th>"
             "<th scope=\"col\">R-hat</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < v->shown_count; i++) add_forest_row(t, v, v->shown[i], &a);
    text_add(t, "</tbody></table></div>\n");
}
