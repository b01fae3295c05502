/* What was chosen, in a few lines. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/options/target.h"
#include "inference/run/derived_quantities.h"
#include "model/likelihood/model_kinds.h"
#include "model/prior/prior_shrinkage.h"
#include "posterior/full/log_prior.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRIOR_LINES ((size_t)12) /* priors are listed while they take no more */

/* Parameters whose priors are told in one line. */
typedef struct {
    size_t first, last, count;
    double low[PRIOR_MAX_NUMBERS], high[PRIOR_MAX_NUMBERS]; /* of each number */
} prior_group;

/* Is the prior of coordinate j part of what is said of weights, or of an effect? */
static bool is_unsaid(const posterior *u, size_t j)
{
    model_derived of;
    return posterior_derived(u, j, &of) && (of.effect || of.watched);
}

static bool is_at_means(const posterior *u, size_t j)
{
    model_derived of;
    return log_prior_centred(u, j) || (posterior_derived(u, j, &of) && of.at_means);
}

static bool same_kind(const posterior *u, size_t a, size_t b)
{
    return posterior_reported_prior(u, a).kind == posterior_reported_prior(u, b).kind &&
           u->scale[a] == u->scale[b] && is_at_means(u, a) == is_at_means(u, b);
}

static bool same_prior(const posterior *u, size_t a, size_t b)
{
    const prior p = posterior_reported_prior(u, a), q = posterior_reported_prior(u, b);
    for (size_t i = 0; i < p.kind->numbers; i++)
        if (!same_kind(u, a, b) || p.theta[i] != q.theta[i]) return false;
    return same_kind(u, a, b);
}

static void add_to_group(const posterior *u, prior_group *g, size_t j)
{
    const prior p = posterior_reported_prior(u, j);
    g->last = j;
    g->count++;
    for (size_t i = 0; i < p.kind->numbers; i++) {
        g->low[i] = fmin(g->low[i], p.theta[i]);
        g->high[i] = fmax(g->high[i], p.theta[i]);
    }
}

static prior_group group_of(const posterior *u, size_t j)
{
    prior_group g = {.first = j, .last = j, .count = 1};
    const prior p = posterior_reported_prior(u, j);
    memcpy(g.low, p.theta, sizeof g.low);
    memcpy(g.high, p.theta, sizeof g.high);
    return g;
}

/* Four digits are enough to read; the file keeps them all. */
static void describe_group(const sbps_run *run, const prior_group *g, text *out)
{
    const prior reported = posterior_reported_prior(run->target, g->first), *p = &reported;
    char *const *names = prior_shrinks(p) ? run->reported_names : run->names;
    text_add(out, "  prior     %s", names[g->first]);
    if (g->count > 1) text_add(out, " .. %s (%zu)", names[g->last], g->count);
    if (is_at_means(run->target, g->first)) text_add(out, " at the means of the columns");
    text_add(out, " ~ %s", p->kind->name);
    for (size_t i = 0; i < p->kind->numbers; i++) {
        text_add(out, "%s%.4g", i ? ", " : "(", g->low[i]);
        if (g->high[i] > g->low[i]) text_add(out, " to %.4g", g->high[i]);
    }
    text_add(out, "%s\n", p->kind->numbers ? ")" : "");
}

/* Neighbours with the same prior take one line. Writes nothing to NULL; returns the lines. */
static size_t list_priors(const sbps_run *run, text *out)
{
    const posterior *u = run->target;
    size_t lines = 0;
    for (size_t j = 0; j < u->dim;) {
        prior_group g = group_of(u, j++);
        if (is_unsaid(u, g.first)) continue;
        for (; j < u->dim && same_prior(u, g.first, j) && !is_unsaid(u, j); j++)
            add_to_group(u, &g, j);
        if (out) describe_group(run, &g, out);
        lines++;
    }
    return lines;
}

/* Is this the first parameter with such a kind of prior? */
static bool is_first_of_kind(const posterior *u, size_t j)
{
    for (size_t i = 0; i < j; i++)
        if (same_kind(u, i, j) && !is_unsaid(u, i)) return false;
    return true;
}

/* One line for each kind of prior, numbers by their range. */
static void group_priors(const sbps_run *run, text *out)
{
    const posterior *u = run->target;
    for (size_t j = 0; j < u->dim; j++) {
        if (is_unsaid(u, j) || !is_first_of_kind(u, j)) continue;
        prior_group g = group_of(u, j);
        for (size_t i = j + 1; i < u->dim; i++)
            if (same_kind(u, j, i) && !is_unsaid(u, i)) add_to_group(u, &g, i);
        describe_group(run, &g, out);
    }
}

static void describe_priors(const sbps_run *run, text *out)
{
    if (list_priors(run, NULL) > PRIOR_LINES)
        group_priors(run, out);
    else
        list_priors(run, out);
}

static bool is_rowless(const sbps_run *run)
{
    return run->plan->model->facts.rowless;
}

static void describe_steps(const sbps_run *run, text *out)
{
    double h = run->chains->s.settings->step_size;
    if (!isnan(h)) text_add(out, "  steps     of size %.4g\n", h);
    if (run->plan->sampler->unmetered)
        text_add(out, "  bias      this sampler cannot say how biased it is\n");
}

#define NAMED_MAX ((size_t)6)

/* Why column j may have a wall: all its rows, those where it is not 0, have the same target. */
static void describe_boundary(const sbps_run *run, size_t j, text *out)
{
    const rows *data = run->table->data;
    size_t count = 0;
    double low = INFINITY, high = -INFINITY;
    if (!run->plan->model->facts.regression || j >= data->d || !data->y) return;
    for (size_t i = 0; i < data->local_rows && !(low < high); i++) {
        if (data->storage.kind->cell(data, i, j) == 0.0) continue;
        count++;
        low = fmin(low, data->y[i]);
        high = fmax(high, data->y[i]);
    }
    if (count > 0 && count < data->local_rows && low == high)
        text_add(out, " (%s %g in %s %zu of its rows)",
                 data->table.target ? data->table.target : "target", low,
                 count > 1 ? "all" : "the", count);
}

/* In words: which, why, and what would help. */
static void describe_warps(const sbps_run *run, text *out)
{
    if (!run->warped || run->target->reported_priors)
        return; /* local scales of weights are so by their nature */
    text_add(out, "  bent      a wall at one side:");
    for (size_t i = 0; i < run->warped->count && i < NAMED_MAX; i++) {
        text_add(out, "%s %s", i ? "," : "", run->names[run->warped->list[i].j]);
        describe_boundary(run, run->warped->list[i].j, out);
    }
    if (run->warped->count > NAMED_MAX)
        text_add(out, " and %zu more", run->warped->count - NAMED_MAX);
    text_add(out,
             "\n            The rows hold these at one side only; at the other the prior does, "
             "however wide it is.\n            Levels of few rows are better put together, or "
             "given a prior that says how far is too far: --prior \"normal(0,2.5)\"\n");
}

static void describe_sampler(const sbps_run *run, text *out)
{
    const run_plan *p = run->plan;
    text_add(out, "  sampler   %s%s, %s metric", p->sampler->name,
             run->options->paper ? " as published" : "", p->metric->name);
    if (p->metric->describe) {
        char kept[96];
        p->metric->describe(run->a, sizeof kept, kept);
        text_add(out, " (%s)", kept);
    }
    if (!p->sampler->discrete) text_add(out, ", refresh rate %.3g", p->settings.refresh_rate);
    text_add(out, "\n");
    if (p->sampler->pairs)
        text_add(out, "  rows      drawn one by one under bounds; control variate %s\n",
                 p->control_variate);
    else if (!is_rowless(run))
        text_add(out, "  batches   %zu of %zu %s: %s; control variate %s\n", run->tuned.batch,
                 total_rows(&run->data), run->data.member_rows ? "groups" : "rows",
                 run->tuned.minibatch->summary, p->control_variate);
    describe_warps(run, out);
    if (*p->why) text_add(out, "  chosen    %s\n", p->why);
    if (p->sampler->bounded) return;
    if (p->sampler->discrete)
        describe_steps(run, out);
    else if (p->choose_band)
        text_add(out, "  band      chosen in warm-up for a bias within %g posterior sd\n",
                 run->options->bias_budget);
    else
        text_add(out, "  band      k = %g\n", p->settings.band.width);
}

static void describe_ranks(const sbps_run *run, text *out)
{
    if (!run->among) return;
    text_add(out, "  ranks     %zu, of %zu rows at least; ", run->among->size,
             min_local_rows(&run->data));
    if (ranks_in_step(run))
        text_add(out, "all of them look at their rows for every step\n");
    else
        text_add(out,
                 "%zu chains go from one to the next: log p is off by %.2g on each, means by "
                 "%.2g sd over all\n",
                 run->chain_count, run->rank_error, run->rank_bias);
}

static void describe_size(const sbps_run *run, text *out)
{
    const rows *data = run->table->data;
    const rows *table = data->member_rows ? data->member_rows : data;
    size_t parameters = derived_parameters(run->target);
    double chains = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) chains += (double)run->chains[i].memory.size;
    if (is_rowless(run))
        text_add(out, "  size      %zu parameters; %zu chains, %.3g MB\n", parameters,
                 run->chain_count, chains / 1e6);
    else
        text_add(out, "  data      %zu rows, %zu parameters, %.3g MB %s; %zu chains, %.3g MB\n",
                 total_rows(table), parameters, rows_factor(table) * rows_bytes(table) / 1e6,
                 data->storage.kind->name, run->chain_count, chains / 1e6);
    describe_ranks(run, out);
    if (run->start_hash)
        text_add(out, "  start     %s%s: U = %.8g, gradient %.1e\n", run->options->start,
                 run->start_metric ? " with its covariance" : "", run->reference->value,
                 run->reference->gradient_norm);
    else
        text_add(out, "  mode      found in %zu steps, U = %.8g, gradient %.1e\n",
                 run->reference->iterations, run->reference->value,
                 run->reference->gradient_norm);
    if (!run->plan->model->facts.rowless)
        text_add(out, "  set-up    %.3g passes through the rows\n", run->passes_setup);
    if (run->target->model->transformation.apply)
        text_add(out, "  groups    %zu effects of all factors sampled together\n",
                 run->target->dim - parameters);
    if (run->rule.nodes > 0)
        text_add(
            out,
            "  groups    %zu of '%s'%s, %zu nodes an effect: %smore would move means by %.1g "
            "posterior sd\n",
            run->data.local_rows,
            run->data.member_rows->groups->factor[run->data.member_rows->groups->by].name,
            run->rule.by_polynomial ? " as polynomials" : "", run->rule.nodes,
            run->rule.by_polynomial ? "rows and " : "", run->rule.error);
}

/* What to know before the parameters of a model are looked at. */
static const struct {
    const model_kind *model;
    const char *sentence;
} cautions[] = {
    {&model_network, "hidden units can be exchanged and mirrored: what the network says is "
                     "identified, its weights are not, and their R-hat may stay large"},
};

#define MAX_OFFSET 20.0 /* of counts: e^20 times as many are no longer plausible */

/* An exposure as it was measured has no negative values and large ones. */
static void describe_offset(const rows *data, text *out)
{
    double smallest = INFINITY, largest = -INFINITY;
    for (size_t i = 0; i < data->local_rows; i++) {
        smallest = fmin(smallest, data->offset[i]);
        largest = fmax(largest, data->offset[i]);
    }
    if (smallest >= 0.0 && largest > MAX_OFFSET)
        text_add(out,
                 "  mind      the offset runs from %.3g to %.3g and is added to the log of the "
                 "mean: "
                 "of an exposure it should be the logarithm\n",
                 smallest, largest);
}

#define FAR_FROM_ZERO 10.0 /* sds of a column */

/* Priors of effects that hold far from any row. */
static void describe_slopes(const sbps_run *run, text *out)
{
    if (!run->target->model->row_model) return;
    const uncentred_slope s = mixed_farthest(run->target->self);
    if (s.sds < FAR_FROM_ZERO) return;
    text_add(out, "  mind      the %s the effects of '",
             s.correlated ? "prior that is given of" : "independence of");
    text_name(out, s.factor);
    text_add(out, "' holds at ");
    text_name(out, s.column);
    text_add(out,
             " = 0, %.3g sd from its mean: intercepts there hold slopes near 0, and the run is "
             "slow. Subtract %.4g from the column\n",
             s.sds, s.mean);
}

#define FEW_LEVELS ((size_t)4)

/* Standard deviations that depend on their prior. */
static void describe_few_levels(const sbps_run *run, text *out)
{
    const rows *member_rows = run->data.member_rows;
    for (size_t f = 0; member_rows && f < member_rows->groups->factors; f++) {
        const group_factor *factor = &member_rows->groups->factor[f];
        if (factor->levels > FEW_LEVELS) continue;
        text_add(out, "  mind      %zu levels of '", factor->levels);
        text_name(out, factor->name);
        text_add(out, "' say little about their standard deviation: its prior matters\n");
    }
}

static void describe_cautions(const sbps_run *run, text *out)
{
    describe_slopes(run, out);
    describe_few_levels(run, out);
    for (size_t i = 0; i < sizeof cautions / sizeof *cautions; i++)
        if (cautions[i].model == run->plan->model)
            text_add(out, "  mind      %s\n", cautions[i].sentence);
    if (run->table->data->offset && run->plan->model->support == SUPPORT_COUNTS)
        describe_offset(run->table->data, out);
}

static void describe_model(const sbps_run *run, text *out)
{
    const char *name = run->options->model, *target = run->table->data->table.target;
    if (is_rowless(run))
        text_add(out, "%s density\n", name);
    else if (target && !*target)
        text_add(out, "%s model\n", name);
    else {
        text_add(out, "%s %s of '", name,
                 run->plan->model->facts.regression ? "regression" : "model");
        text_name(out, target ? target : "label");
        text_add(out, "'\n");
    }
}

/* What is reported, by names as a terminal may see them; NULL: no memory. */
static char **printable_names(const sbps_run *run)
{
    size_t d = run->target->dim;
    char **names = calloc(d, sizeof *names);
    bool whole = names;
    for (size_t j = 0; whole && j < d; j++) {
        text name = {0};
        text_name(&name, run->reported_names[j]);
        whole = (names[j] = text_take(&name));
    }
    if (whole) return names;
    free_texts(names, d);
    return NULL;
}

sbps_status run_describe(const sbps_run *run, char **out, sbps_error *err)
{
    text all = {0};
    number_locale locale;
    sbps_run shown; /* the same run, its names fit to be seen */
    *out = NULL;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    memcpy(&shown, run, sizeof shown);
    shown.names = printable_names(run);
    if (shown.names) {
        describe_model(&shown, &all);
        describe_cautions(&shown, &all);
        describe_size(&shown, &all);
        describe_priors(&shown, &all);
        describe_sampler(&shown, &all);
        *out = text_take(&all);
    }
    free_texts(shown.names, run->target->dim);
    numbers_end(&locale);
    return *out ? SBPS_OK : fail_memory(err);
}
