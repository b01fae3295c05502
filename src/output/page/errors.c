/* How far each mean can be off: by what the sampler does wrong, and by what a finite run does not know. Both in posterior
 * sd, on one scale that starts at 0. */
#include "output/page/html.h"
#include "output/page/plot.h"
#include "output/page/sections.h"

#include <math.h>

static double relative_error(const sbps_parameter *p)
{
    return p->mcse / p->sd;
}

static axis scale_of(const view *v)
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

static void add_line(text *t, const axis *a, const char *kind, const char *at, double from,
                     double to)
{
    text_add(t, "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%s\" y2=\"%s\"/>", kind,
             axis_place(a, fmax(0.0, from)), axis_place(a, to), at, at);
}

static void add_bars(text *t, const sbps_parameter *p, const axis *a)
{
    text_add(t, "<svg class=\"bar two\" aria-hidden=\"true\">");
    if (isfinite(p->bias)) add_line(t, a, "bias", "32%", 0.0, fabs(p->bias));
    if (isfinite(p->bias) && p->bias_se > 0.0)
        add_line(t, a, "doubt", "32%", fabs(p->bias) - p->bias_se, fabs(p->bias) + p->bias_se);
    if (isfinite(relative_error(p))) add_line(t, a, "chance", "70%", 0.0, relative_error(p));
    text_add(t, "</svg>");
}

static void add_decimal(text *t, double value)
{
    if (isnan(value))
        text_add(t, "<td>-</td>");
    else
        text_add(t, "<td>%.4f</td>", value);
}

static void add_ess(text *t, const view *v, size_t j)
{
    text_add(t, "<td>");
    html_count(t, view_path_ess(v, j));
    text_add(t, "</td>");
}

static void add_error_row(text *t, const view *v, size_t j, const axis *a)
{
    const sbps_parameter *p = &v->parameters[j];
    text_add(t, "<tr>");
    html_row_name(t, p->name);
    text_add(t, "<td class=\"drawn\">");
    add_bars(t, p, a);
    text_add(t, "</td>");
    add_decimal(t, p->bias);
    add_decimal(t, p->bias_se);
    add_decimal(t, relative_error(p));
    add_decimal(t, p->sd_bias);
    add_decimal(t, p->sd_bias_se);
    add_ess(t, v, j);
    text_add(t, "</tr>\n");
}

/* Whose ESS the verdict has. */
static void add_ess_note(text *t, const view *v)
{
    text_add(t, " The last column has the effective sample size of mean and square by the "
                "whole path, of which the stored draws are a part");
    if (v->slowest < v->r->dim &&
        view_path_ess(v, v->slowest) <= v->r->info.min_ess * (1.0 + 1e-9)) {
        text_add(t, ": that of <b>");
        html_text(t, view_name(v, v->slowest));
        text_add(t, "</b> is the smallest, which stands in the verdict.");
    } else
        text_add(t, "; the verdict counts coordinates of flight that are not reported, too.");
}

void page_errors(text *t, const view *v)
{
    axis a = scale_of(v);
    double budget = v->r->info.bias_budget;
    text_add(
        t,
        "<p>How far each mean can be off, in posterior standard deviations. <span class=\"key "
        "bias\">Stated bias</span> is what the sampler itself says it does wrong, with its "
        "standard error; <span class=\"key chance\">Monte Carlo error</span> is what a longer "
        "run would take away.");
    add_ess_note(t, v);
    if (budget > 0.0) text_add(t, " The dotted line is the bias budget, %.3g.", budget);
    text_add(
        t,
        "</p>\n<div class=\"wide\"><table class=\"sortable errors\" "
        "style=\"--zero:%.2f%%;--budget:%.2f%%\">\n"
        "<caption>Stated bias beside Monte Carlo error, in posterior sd</caption>\n<thead><tr>"
        "<th scope=\"col\">parameter</th><th scope=\"col\" class=\"drawn\"><span "
        "class=\"unseen\">drawn</span></th>"
        "<th scope=\"col\">bias</th><th scope=\"col\">its error</th><th scope=\"col\">MC "
        "error</th>"
        "<th scope=\"col\">bias of sd</th><th scope=\"col\">its error</th>"
        "<th scope=\"col\">ESS of the path</th></tr></thead>\n<tbody>\n",
        axis_place(&a, 0.0), axis_place(&a, budget));
    for (size_t i = 0; i < v->shown_count; i++) add_error_row(t, v, v->shown[i], &a);
    text_add(t, "</tbody></table></div>\n");
}
