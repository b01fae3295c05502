/* The summary of a run as text: formula, family and rows; then fixed effects, standard deviations
 * and correlations of groups, and other parameters (sigma, cutpoints), each in a table. Effects
 * of single levels, and the settings and costs of the run, are added on request. */
#include "output/summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH       ((size_t)80) /* of the lines above the tables */
#define LABEL       ((size_t)14)
#define FORMULA_MAX ((size_t)800) /* bytes of a formula that are shown */

static const char *or_unknown(const char *value)
{
    return value ? value : "unknown";
}

/* ---- the run ---- */

/* The value of an option of the run; NULL: not given or not stored. */
static const char *option_of(const result *r, const char *name)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (!strcmp(r->options[i].name, name) && *r->options[i].value)
            return r->options[i].value;
    return NULL;
}

/* The formula, wrapped, and cut at a blank if it is long. */
static void add_formula(text *t, const char *formula)
{
    text printable = {0};
    size_t length = strlen(formula), cut = length > FORMULA_MAX ? FORMULA_MAX : length;
    text_name(&printable, formula);
    while (cut < length && formula[cut] != ' ') cut++;
    text_cut(&printable, cut);
    if (cut < length) text_add(&printable, " ... (%zu bytes)", length);
    char *words = text_take(&printable);
    text_add(t, "formula       ");
    text_paragraph(t, WIDTH, LABEL, words ? words : "");
    t->failed |= !words;
    free(words);
}

/* Formula, family and rows. */
static void add_model(text *t, const result *r)
{
    const result_info *info = &r->info;
    const char *family = option_of(r, "family");
    if (info->formula && *info->formula)
        add_formula(t, info->formula);
    else if (info->target && *info->target) {
        text_add(t, "target        ");
        text_name(t, info->target);
        text_add(t, "\n");
    }
    text_add(t, family ? "family        " : "model         ");
    text_name(t, family ? family : or_unknown(info->model));
    text_add(t, "\n");
    if (info->target && *info->target) { /* a density has no rows */
        text_add(t, "rows          ");
        text_count(t, info->rows);
        if (info->rows_dropped > 0.0)
            text_add(t, ", %.0f dropped for missing values", info->rows_dropped);
        text_add(t, "\n");
    }
    if (result_prior_only(r))
        text_add(t,
                 "draws         from the prior alone (--prior-only); the rows are left out\n");
}

/* Chains and draws, and what limits their use. */
static void add_draws(text *t, const result *r, const sbps_parameter *parameters)
{
    const result_info *info = &r->info;
    double rhat = NAN;
    for (size_t j = 0; j < r->dim; j++) rhat = fmax(rhat, parameters[j].rhat);
    text_add(t, "chains        %zu x %zu draws, seed %.0f; smallest ESS ", r->chains, r->draws,
             info->seed);
    text_count(t, info->min_ess);
    if (!isnan(rhat)) text_add(t, ", largest R-hat %.3f", rhat);
    text_add(t, "\n");
    if (info->ranks > 1.0) {
        text_add(t, "ranks         %.0f", info->ranks);
        if (!isnan(info->rank_bias)) {
            text_add(t, ", of which each chain uses one at a time; this may shift means by ");
            text_measure(t, info->rank_bias);
            text_add(t, " posterior sd");
        }
        text_add(t, "\n");
    }
    if (!isnan(info->pareto_k))
        text_add(t, "Pareto k-hat  %.2f (above 0.7 the importance weights are unreliable)\n",
                 info->pareto_k);
    if (info->interrupted) text_add(t, "note          the run was interrupted\n");
}

/* Settings, stated bias and costs. */
static void add_settings(text *t, const result *r)
{
    const result_info *info = &r->info;
    text_add(t, "model         ");
    text_name(t, or_unknown(info->model));
    text_add(t, "\nparameters    %zu\nsampler       %s", r->dim, or_unknown(info->sampler));
    if (info->paper) text_add(t, " as published");
    text_add(t, ", control variate %s, metric %s\nbatch size    ",
             or_unknown(info->control_variate), or_unknown(info->metric));
    text_count(t, info->batch_size);
    text_add(t, " rows (%s)\n", or_unknown(info->minibatch));
    if (!isnan(info->band)) {
        text_add(t, "band k        ");
        text_measure(t, info->band);
        text_add(t, "\n");
    }
    text_add(t, "stated bias   ");
    text_estimate(t, info->bias_estimate, info->bias_estimate_se);
    text_add(t, " posterior sd (budget ");
    text_measure(t, info->bias_budget);
    text_add(t, ")\n");
    if (info->ess_goal > 0.0) text_add(t, "goal of ESS   %.0f\n", info->ess_goal);
    text_add(t, "rows touched  ");
    text_count(t, info->rows_touched);
    text_add(t, ", per effective sample ");
    text_count(t, rows_per_sample(info));
    text_add(t, "\nseconds       set-up %.3g, warm-up %.3g, sampling %.3g\n",
             info->seconds_setup, info->seconds_warmup, info->seconds_sampling);
}

/* ---- the parameters ---- */

typedef enum { FIXED, SPREAD, OTHER, EFFECT, SECTIONS } section;

static section section_of(const sbps_parameter *p)
{
    if (!strcmp(p->part, "intercept") || !strcmp(p->part, "coefficient")) return FIXED;
    if (!strcmp(p->part, "sd") || !strcmp(p->part, "cor")) return SPREAD;
    return strcmp(p->part, "effect") ? OTHER : EFFECT;
}

static const char *title_of(section s, const size_t *count)
{
    static const char *const titles[] = {
        [FIXED] = "Fixed effects",
        [SPREAD] = "Standard deviations and correlations of groups",
        [OTHER] = "Other parameters",
        [EFFECT] = "Effects of groups",
    };
    return s == FIXED && count[SPREAD] == 0 ? "Coefficients" : titles[s];
}

/* The parameters, section by section; one section alone has no title. */
static void add_sections(text *t, const sbps_parameter *sorted, const size_t *count)
{
    size_t shown = 0, used = 0, first = 0;
    for (section s = FIXED; s < SECTIONS; s++) {
        shown += count[s];
        used += count[s] > 0;
    }
    const grid all = {PARAMETER_GRID(sorted, shown)};
    const grid_widths widths = grid_measure(&all);
    for (section s = FIXED; s < SECTIONS; first += count[s++]) {
        if (count[s] == 0) continue;
        text_add(t, "\n");
        if (used > 1) text_add(t, "%s\n", title_of(s, count));
        grid_part(t, &(grid){PARAMETER_GRID(sorted + first, count[s])}, &widths);
    }
}

void write_summary_text(text *t, const result *r, const sbps_parameter *parameters,
                        unsigned show)
{
    size_t count[SECTIONS] = {0}, hidden = 0, n = 0;
    sbps_parameter *sorted = malloc((r->dim + 1) * sizeof *sorted);
    add_model(t, r);
    add_draws(t, r, parameters);
    if (show & SBPS_SHOW_RUN) add_settings(t, r);
    for (section s = FIXED; sorted && s < SECTIONS; s++)
        for (size_t j = 0; j < r->dim; j++) {
            if (section_of(&parameters[j]) != s) continue;
            if (s == EFFECT && !(show & SBPS_SHOW_EFFECTS))
                hidden++;
            else
                sorted[n++] = parameters[j];
            count[s] += s != EFFECT || (show & SBPS_SHOW_EFFECTS);
        }
    t->failed |= !sorted;
    if (sorted) add_sections(t, sorted, count);
    if (hidden > 0)
        text_add(t,
                 "\n%zu effects of groups are not shown: `sbps summary --ranef` shows them\n",
                 hidden);
    free(sorted);
}
