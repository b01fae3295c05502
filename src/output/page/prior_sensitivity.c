/* How far each posterior moves when the prior, or the likelihood, counts for more or less. */
#include "output/page/html.h"
#include "output/page/page_table.h"

#include <math.h>

#define THRESHOLD 0.05

/* Only what the diagnosis rests on is marked: that the likelihood moves a posterior is as it should be. */
static void add_distance(text *t, double value, bool high)
{
    if (isnan(value))
        text_add(t, "<td>-</td>");
    else
        text_add(t, "<td%s>%.3f</td>", high ? " class=\"high\"" : "", value);
}

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

static size_t count_sensitive(const predictive_checks *c)
{
    size_t count = 0;
    for (size_t k = 0; k < c->sensitivities; k++) count += is_sensitive(&c->sensitivity[k]);
    return count;
}

/* Those to be listed: all where there are few, else the sensitive ones. */
static bool is_listed(const predictive_checks *c, size_t k)
{
    return c->sensitivities <= MAX_ROWS || is_sensitive(&c->sensitivity[k]);
}

static void add_explanation(text *t, const predictive_checks *c)
{
    size_t sensitive = count_sensitive(c);
    text_add(t,
             "<p>Power scaling: how far the posterior of each parameter moves where its prior, "
             "or the likelihood, is taken to a power. From %.2f on the prior counts; that the "
             "likelihood does is as it should be. ",
             THRESHOLD);
    if (sensitive == 0)
        text_add(t, "No posterior depends on its prior.");
    else
        text_add(t, "%zu of %zu depend%s on the prior: look at whether it says what is known.",
                 sensitive, c->sensitivities, sensitive == 1 ? "s" : "");
    if (c->likelihood_noise > 0.5)
        text_add(t, " Log likelihoods of this run are estimates with errors as large as what "
                    "they differ by: sensitivity to the likelihood is told too small.");
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
