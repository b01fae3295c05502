/* The page: head, list of contents, and sections in the order of a reader's questions: can I
 * trust the results, what are they, what supports them, how were they made. A new section is a
 * line in the list below. */
#include "output/page/page.h"

#include "core/decimal.h"
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <stdlib.h>
#include <string.h>

#define LONG_FORMULA 120 /* bytes: a longer formula is shown at the end of the page only */

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

static bool omits_parameters(const view *v)
{
    return v->shown_count < v->r->dim;
}

static const struct {
    const char *id, *brief, *title;
    bool (*applies)(const view *v);
    void (*write)(text *t, const view *v);
} sections[] = {
    {"verdict", "Verdict", "Can the results be trusted?", always, page_verdict},
    {"coefficients", "Coefficients", "Coefficients", always, page_forest},
    {"errors", "Bias and error", "Stated bias and Monte Carlo error", always, page_errors},
    {"chains", "Chains", "Chains", has_draws, page_chains},
    {"ess", "Sample size", "Growth of the effective sample size", has_draws, page_growth},
    {"densities", "Priors", "Posterior against prior", has_draws, page_densities},
    {"pairs", "Pairs", "Most correlated pairs", has_pairs, page_pairs},
    {"checks", "Checks", "Does the model describe the rows?", page_has_rows, page_checks},
    {"loo", "Leave-one-out", "Leave-one-out: each row predicted from the others",
     page_has_own_rows, page_loo},
    {"sensitivity", "Sensitivity", "Sensitivity to priors and likelihood", page_has_sensitivity,
     page_sensitivity},
    {"everything", "All parameters", "All parameters", omits_parameters, page_everything},
    {"origin", "What was run", "What was run", always, page_origin},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* "Posterior of" the target, the model, or a run. */
static void add_title(text *t, const result_info *info)
{
    text_add(t, "Posterior of ");
    html_text(t, info && info->target && *info->target ? info->target
                 : info && info->model                 ? info->model
                                                       : "a run");
}

/* The head: a security policy that allows nothing external, style sheets and title. */
static void add_head(text *t, const result_info *info, const page_news *news)
{
    text_add(t,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; script-src 'unsafe-inline'%s\"/>\n",
             news ? "; connect-src 'self'; img-src data:" : "");
    if (news) {
        text_add(t, "<link rel=\"icon\" href=\"data:,\"/>\n");
        if (!news->over)
            text_add(t, "<noscript><meta http-equiv=\"refresh\" content=\"2\"/></noscript>\n");
    }
    text_add(t, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                "<meta name=\"generator\" content=\"sbps " SBPS_VERSION "\"/>\n<title>");
    add_title(t, info);
    text_add(t, "</title>\n<style>\n%s%s</style>\n</head>\n", uplot_css, page_css);
}

/* One line: formula, model, rows, parameters, draws. */
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

/* Opens the body: the state of a live run, and the title. */
static void open_body(text *t, const result_info *info, const page_news *news)
{
    text_add(t, "<body%s>\n<a class=\"skip\" href=\"#verdict\">Skip to the verdict</a>\n",
             news && news->over ? " class=\"over\"" : "");
    if (news) {
        text_add(t, "<p id=\"news\" role=\"status\">");
        html_text(t, news->message);
        text_add(t, "</p>\n");
    }
    text_add(t, "<header>\n<h1>");
    add_title(t, info);
    text_add(t, "</h1>\n");
}

/* A section with its heading, if it applies. */
static void add_section(text *t, const view *v, size_t i)
{
    if (!sections[i].applies(v)) return;
    text_add(t,
             "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
             sections[i].id, sections[i].id, sections[i].id, sections[i].title);
    sections[i].write(t, v);
    text_add(t, "</section>\n");
}

/* Ends the page with its scripts. */
static void close_body(text *t, const page_news *news)
{
    text_add(t, "</main>\n<script>\n%s%s%s</script>\n</body>\n</html>\n", uplot_js, page_js,
             news && !news->over ? live_js : "");
}

static void add_page(text *t, const view *v, const page_news *news)
{
    add_head(t, &v->r->info, news);
    open_body(t, &v->r->info, news);
    add_subtitle(t, v->r);
    text_add(t, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].applies(v))
            text_add(t, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].brief);
    text_add(t, "</ul></nav>\n");
    text_add(t, "</header>\n<main>\n");
    for (size_t i = 0; i < SECTIONS; i++) add_section(t, v, i);
    close_body(t, news);
}

sbps_status page_write(const result *r, page_extras more, char **out, sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    view v;
    *out = NULL;
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = view_open(r, parameters, &v, err)) != SBPS_OK) goto free_parameters;
    v.table = more.table;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto close_view;
    add_page(&t, &v, more.news);
    numbers_end(&locale);
    status = text_give(&t, out, err);
close_view:
    view_close(&v);
free_parameters:
    free(parameters);
    return status;
}

sbps_status page_wait(const page_news *news, char **out, sbps_error *err)
{
    text t = {0};
    add_head(&t, NULL, news);
    open_body(&t, NULL, news);
    text_add(&t, "</header>\n<main>\n<p>No draws yet.</p>\n");
    close_body(&t, news);
    return text_give(&t, out, err);
}
