/* The order of the sections is the order of the questions: can I trust it, what does it say, why should I believe it,
 * where does it come from. A section more is a line of the list below. */
#include "page/page.h"

#include "base/decimal.h"
#include "page/assets.h"
#include "page/html.h"
#include "page/sections.h"

#include <stdlib.h>
#include <string.h>

#define LONG_FORMULA 120 /* bytes: those stand at the end of the page alone */

static bool always(const view *v)
{
    (void)v;
    return true;
}

static bool has_draws(const view *v)
{
    return v->r->draws >= 4 && v->worst_count > 0;
}

static bool has_pairs(const view *v)
{
    return has_draws(v) && v->clearest_count > 1;
}

static bool leaves_some_out(const view *v)
{
    return v->shown_count < v->r->dim;
}

static const struct {
    const char *id, *brief, *title;
    bool (*applies)(const view *v);
    void (*write)(text *t, const view *v);
} sections[] = {
    {"verdict", "Verdict", "Can it be trusted?", always, page_verdict},
    {"coefficients", "Coefficients", "Coefficients", always, page_forest},
    {"errors", "Bias and error", "Stated bias beside Monte Carlo error", always, page_errors},
    {"chains", "Chains", "Chains", has_draws, page_chains},
    {"ess", "Sample size", "Effective sample size as it grew", has_draws, page_growth},
    {"densities", "Priors", "Posterior against prior", has_draws, page_densities},
    {"pairs", "Pairs", "Most correlated pairs", has_pairs, page_pairs},
    {"everything", "All parameters", "All parameters", leaves_some_out, page_everything},
    {"origin", "What was run", "What was run", always, page_origin},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void add_title(text *t, const result_info *info)
{
    text_add(t, "Posterior of ");
    html_text(t, info->target && *info->target ? info->target
                 : info->model                 ? info->model
                                               : "a run");
}

static void add_head(text *t, const result_info *info)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; "
                "script-src 'unsafe-inline'\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                "<meta name=\"generator\" content=\"sbps " SBPS_VERSION "\"/>\n<title>");
    add_title(t, info);
    text_add(t, "</title>\n<style>\n%s%s</style>\n</head>\n", uplot_css, page_css);
}

/* What was asked of which rows, in a line. */
static void add_subtitle(text *t, const result *r)
{
    const result_info *info = &r->info;
    text_add(t, "<p class=\"subtitle\">");
    if (info->formula && *info->formula && strlen(info->formula) < LONG_FORMULA) {
        text_add(t, "<code>");
        html_text(t, info->formula);
        text_add(t, "</code> \xc2\xb7 ");
    }
    html_text(t, info->model ? info->model : "unknown model");
    text_add(t, " \xc2\xb7 ");
    html_count(t, info->rows);
    text_add(t, " rows \xc2\xb7 %zu parameters \xc2\xb7 %zu draws</p>\n", r->dim,
             r->chains * r->draws);
}

static void add_contents(text *t, const view *v)
{
    text_add(t, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].applies(v))
            text_add(t, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].brief);
    text_add(t, "</ul></nav>\n");
}

static void add_body(text *t, const view *v)
{
    text_add(
        t,
        "<body>\n<a class=\"skip\" href=\"#verdict\">Skip to the verdict</a>\n<header>\n<h1>");
    add_title(t, &v->r->info);
    text_add(t, "</h1>\n");
    add_subtitle(t, v->r);
    add_contents(t, v);
    text_add(t, "</header>\n<main>\n");
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].applies(v)) continue;
        text_add(
            t,
            "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
            sections[i].id, sections[i].id, sections[i].id, sections[i].title);
        sections[i].write(t, v);
        text_add(t, "</section>\n");
    }
    text_add(t, "</main>\n<script>\n%s%s</script>\n</body>\n</html>\n", uplot_js, page_js);
}

sbps_status page_write(const result *r, char **out, sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    view v;
    *out = NULL;
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = view_open(r, parameters, &v, err)) != SBPS_OK) goto free_parameters;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto close_view;
    add_head(&t, &r->info);
    add_body(&t, &v);
    numbers_end(&locale);
    status = text_give(&t, out, err);
close_view:
    view_close(&v);
free_parameters:
    free(parameters);
    return status;
}
