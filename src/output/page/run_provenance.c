/* Section: what was run, as recorded in the run's file. */
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <math.h>
#include <string.h>

static void open_fact(text *t, const char *name)
{
    text_add(t, "<div><dt>%s</dt><dd>", name);
}

static void close_fact(text *t)
{
    text_add(t, "</dd></div>\n");
}

/* A name and a text; nothing if the text is empty. */
static void add_fact(text *t, const char *name, const char *value)
{
    if (!value || !*value) return;
    open_fact(t, name);
    html_text(t, value);
    close_fact(t);
}

/* A name and a number; nothing for NAN. */
static void add_number_fact(text *t, const char *name, double value)
{
    if (isnan(value)) return;
    open_fact(t, name);
    html_count(t, value);
    close_fact(t);
}

/* Row evaluations, passes, proposals. */
static void add_work(text *t, const result_info *info)
{
    add_number_fact(t, "row evaluations", info->rows_touched);
    add_number_fact(t, "row evaluations per effective sample", rows_per_sample(info));
    if (!isnan(info->passes_setup)) {
        open_fact(t, "passes over the data before sampling");
        html_measure(t, info->passes_setup);
        close_fact(t);
    }
    add_number_fact(t, "proposals", info->proposals);
    if (info->bounces > 0.0) add_number_fact(t, "bounces", info->bounces);
    if (!isnan(info->pareto_k)) {
        open_fact(t, "Pareto k of the weights");
        html_measure(t, info->pareto_k);
        close_fact(t);
    }
}

/* The list of facts about the run. */
static void add_facts(text *t, const view *v)
{
    const result *r = v->r;
    const result_info *info = &r->info;
    text_add(t, "<dl class=\"facts\">\n");
    if (info->command && *info->command) {
        text_add(t, "<div class=\"whole\"><dt>command</dt><dd><code>");
        html_text(t, info->command);
        text_add(t, "</code></dd></div>\n");
    }
    add_fact(t, "data", info->data);
    add_number_fact(t, "rows", info->rows);
    if (info->rows_dropped > 0.0)
        add_number_fact(t, "rows dropped for missing cells", info->rows_dropped);
    add_fact(t, "formula", info->formula);
    add_fact(t, "model", info->model);
    add_fact(t, "target", info->target);
    add_number_fact(t, "parameters", (double)r->dim);
    add_fact(t, "sampler", info->sampler);
    add_fact(t, "control variate", info->control_variate);
    add_fact(t, "metric", info->metric);
    add_number_fact(t, "rows in a batch", info->batch_size);
    open_fact(t, "chains");
    text_add(t, "%zu of %zu draws", r->chains, r->draws);
    close_fact(t);
    add_number_fact(t, "seed", r->info.seed);
    add_work(t, info);
    open_fact(t, "seconds");
    text_add(t, "%.3g (set-up %.3g, warm-up %.3g, sampling %.3g)",
             info->seconds_setup + info->seconds_warmup + info->seconds_sampling,
             info->seconds_setup, info->seconds_warmup, info->seconds_sampling);
    close_fact(t);
    if (!isnan(page_table_seconds(v))) {
        open_fact(t, "seconds for leave-one-out and checks");
        html_measure(t, page_table_seconds(v));
        close_fact(t);
    }
    add_fact(t, "created", info->created_at);
    add_fact(t, "created by", info->made_by);
    add_fact(t, "page written by", "sbps " SBPS_VERSION);
    add_fact(t, "charts", *uplot_js ? "SVG, with zoom by uPlot" : "SVG; built without uPlot");
    text_add(t, "</dl>\n");
}

/* True for a value that switches an option off or leaves it to the program. */
static bool is_default_like(const char *value)
{
    static const char *const values[] = {"", "auto", "false", "none", "off"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!value || !strcmp(value, values[i])) return true;
    return false;
}

/* A table of the options that were set. */
static void add_options(text *t, const result *r)
{
    if (r->option_count == 0) return;
    text_add(t, "<details><summary>Options in force</summary>\n<div "
                "class=\"wide\"><table><caption>Options of the run; those left to "
                "auto or off are omitted</caption><thead><tr><th "
                "scope=\"col\">option</th><th scope=\"col\" "
                "class=\"left\">value</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->option_count; i++) {
        if (is_default_like(r->options[i].value)) continue;
        text_add(t, "<tr><th scope=\"row\">");
        html_text(t, r->options[i].name);
        text_add(t, "</th><td class=\"left\">");
        html_text(t, r->options[i].value);
        text_add(t, "</td></tr>\n");
    }
    text_add(t, "</tbody></table></div></details>\n");
}

void page_origin(text *t, const view *v)
{
    add_facts(t, v);
    add_options(t, v->r);
}
