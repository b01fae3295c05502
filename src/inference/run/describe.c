/* The set-up report: data, mode, priors, sampler and cautions, one line each, with a label of
 * ten columns. */
#include "inference/run/describe.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/options/target.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/group_effects.h"
#include "model/likelihood/model_kinds.h"
#include "model/prior/prior_shrinkage.h"
#include "posterior/full/log_prior.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRIOR_LINES ((size_t)12) /* most lines of priors; with more, they are grouped by kind */

/* Parameters whose priors are reported in one line. */
typedef struct {
    size_t first, last, count;
    double low[PRIOR_MAX_NUMBERS], high[PRIOR_MAX_NUMBERS]; /* ranges of the prior's numbers */
} prior_group;

/* True if the prior of coordinate j is not listed: it belongs to a shrinkage prior or an
 * effect. */
static bool is_unlisted(const posterior *u, size_t j)
{
    model_derived of;
    return posterior_derived(u, j, &of) && (of.effect || of.watched);
}

/* True if the prior of coordinate j applies at the column means. */
static bool is_at_means(const posterior *u, size_t j)
{
    model_derived of;
    return log_prior_centred(u, j) || (posterior_derived(u, j, &of) && of.at_means);
}

/* True if two coordinates have the same kind of prior, on the same scale. */
static bool same_kind(const posterior *u, size_t a, size_t b)
{
    return posterior_reported_prior(u, a).kind == posterior_reported_prior(u, b).kind &&
           u->scale[a] == u->scale[b] && is_at_means(u, a) == is_at_means(u, b);
}

/* True if two coordinates have the same prior. */
static bool same_prior(const posterior *u, size_t a, size_t b)
{
    const prior p = posterior_reported_prior(u, a), q = posterior_reported_prior(u, b);
    for (size_t i = 0; i < p.kind->numbers; i++)
        if (!same_kind(u, a, b) || p.theta[i] != q.theta[i]) return false;
    return same_kind(u, a, b);
}

/* Adds coordinate j to the group and widens its ranges. */
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

/* A group of the coordinate alone. */
static prior_group group_of(const posterior *u, size_t j)
{
    prior_group g = {.first = j, .last = j, .count = 1};
    const prior p = posterior_reported_prior(u, j);
    memcpy(g.low, p.theta, sizeof g.low);
    memcpy(g.high, p.theta, sizeof g.high);
    return g;
}

/* Prints a line for a group of priors, with four digits; the result file has them all. */
static void describe_group(const sbps_run *run, const prior_group *g, text *out)
{
    const prior reported = posterior_reported_prior(run->target, g->first), *p = &reported;
    char *const *names = prior_shrinks(p) ? run->report.names : run->report.coordinates;
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

/* Lists the priors; neighbours with the same prior share a line. Returns the number of lines;
 * out NULL: counts only. */
static size_t list_priors(const sbps_run *run, text *out)
{
    const posterior *u = run->target;
    size_t lines = 0;
    for (size_t j = 0; j < u->dim;) {
        prior_group g = group_of(u, j++);
        if (is_unlisted(u, g.first)) continue;
        for (; j < u->dim && same_prior(u, g.first, j) && !is_unlisted(u, j); j++)
            add_to_group(u, &g, j);
        if (out) describe_group(run, &g, out);
        lines++;
    }
    return lines;
}

/* True if no parameter before j has this kind of prior. */
static bool is_first_of_kind(const posterior *u, size_t j)
{
    for (size_t i = 0; i < j; i++)
        if (same_kind(u, i, j) && !is_unlisted(u, i)) return false;
    return true;
}

/* Prints one line for each kind of prior, with the ranges of its numbers: a table of a thousand
 * columns has as many priors, which differ by the columns' sds. */
static void group_priors(const sbps_run *run, text *out)
{
    const posterior *u = run->target;
    for (size_t j = 0; j < u->dim; j++) {
        if (is_unlisted(u, j) || !is_first_of_kind(u, j)) continue;
        prior_group g = group_of(u, j);
        for (size_t i = j + 1; i < u->dim; i++)
            if (same_kind(u, j, i) && !is_unlisted(u, i)) add_to_group(u, &g, i);
        describe_group(run, &g, out);
    }
}

/* A density without data has no batches to describe. */
static bool is_rowless(const sbps_run *run)
{
    return run->plan->model->facts.no_rows;
}

#define NAMED_MAX ((size_t)6) /* parameters named in a line; the others are counted */

/* Prints why the coefficient of column j is bounded on one side only: all rows in which the
 * column is not 0 have the same response. */
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
        text_add(out, " (%s is %g in %s %zu of its rows)",
                 data->table.target ? data->table.target : "target", low,
                 count > 1 ? "all" : "the", count);
}

/* Lists parameters that the data bound on one side only, why, and what would help. */
static void describe_warps(const sbps_run *run, text *out)
{
    if (!run->geometry.warped || run->target->reported_priors)
        return; /* the local scales of shrinkage priors always are */
    text_add(out, "  boundary  one-sided:");
    for (size_t i = 0; i < run->geometry.warped->count && i < NAMED_MAX; i++) {
        text_add(out, "%s %s", i ? "," : "",
                 run->report.coordinates[run->geometry.warped->list[i].j]);
        describe_boundary(run, run->geometry.warped->list[i].j, out);
    }
    if (run->geometry.warped->count > NAMED_MAX)
        text_add(out, " and %zu more", run->geometry.warped->count - NAMED_MAX);
    text_add(out, "\n            The data bound these parameters on one side only; on the "
                  "other side only the prior does.\n            Merge rare levels, or use a "
                  "prior that bounds them: --prior \"normal(0,2.5)\"\n");
}

/* Sampler, metric, mini-batches, the reason of the choice, and the band. */
static void describe_sampler(const sbps_run *run, text *out)
{
    const run_plan *p = run->plan;
    if (run->options->prior_only) {
        text_add(out,
                 "  sampler   none: independent draws from the prior alone; the rows are left "
                 "out\n");
        return;
    }
    text_add(out, "  sampler   %s%s, %s metric", p->sampler->name,
             run->options->paper ? " as published" : "", p->metric->name);
    if (p->metric->describe) {
        char kept[96];
        p->metric->describe(run->geometry.a, sizeof kept, kept);
        text_add(out, " (%s)", kept);
    }
    if (!p->sampler->discrete) text_add(out, ", refresh rate %.3g", p->settings.refresh_rate);
    text_add(out, "\n");
    if (p->sampler->pairs)
        text_add(out, "  rows      sampled one at a time; control variate %s\n",
                 p->control_variate);
    else if (!is_rowless(run))
        text_add(out, "  batches   %zu of %zu %s: %s; control variate %s\n", run->tuned.batch,
                 total_rows(&run->data), run->data.member_rows ? "groups" : "rows",
                 run->tuned.minibatch->summary, p->control_variate);
    describe_warps(run, out);
    if (*p->why) text_add(out, "  chosen    %s\n", p->why);
    if (p->sampler->bounded) return;
    double step = run->chains->s.settings->step_size;
    if (p->sampler->discrete && !isnan(step)) text_add(out, "  steps     size %.4g\n", step);
    if (p->sampler->discrete && p->sampler->unmetered)
        text_add(out, "  bias      not estimated for this sampler\n");
    if (p->sampler->discrete) return;
    if (p->choose_band)
        text_add(out, "  band      width tuned in warm-up for a bias below %g posterior sd\n",
                 run->options->bias_budget);
    else
        text_add(out, "  band      k = %g\n", p->settings.band.width);
}

/* Distribution over MPI ranks. */
static void describe_ranks(const sbps_run *run, text *out)
{
    if (!run->ranks.among) return;
    text_add(out, "  ranks     %zu, at least %zu rows each; ", run->ranks.among->size,
             min_local_rows(&run->data));
    if (ranks_in_step(run))
        text_add(out, "every step uses the rows of all ranks\n");
    else
        text_add(out, "%zu chains rotate over the ranks; estimated error of means %.2g sd\n",
                 run->chain_count, run->ranks.bias);
}

/* Sizes and memory, the mode, and the treatment of groups. */
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
    else {
        text_add(out, "  data      %zu rows", total_rows(table));
        if (table->table.dropped > 0 && table->table.dropped != SIZE_MAX)
            text_add(out, " (%zu dropped for missing values)", table->table.dropped);
        text_add(out, ", %zu parameters, %.3g MB %s; %zu chains, %.3g MB\n", parameters,
                 rows_factor(table) * rows_bytes(table) / 1e6, data->storage.kind->name,
                 run->chain_count, chains / 1e6);
    }
    describe_ranks(run, out);
    if (run->geometry.start_hash)
        text_add(out, "  start     %s%s: negative log posterior %.8g, gradient norm %.1e\n",
                 run->options->start, run->geometry.start_metric ? " with its covariance" : "",
                 run->reference->value, run->reference->gradient_norm);
    else if (!run->options->prior_only && !run->noise.sweep)
        text_add(out,
                 "  mode      found in %zu iterations: negative log posterior %.8g, gradient "
                 "norm %.1e\n",
                 run->reference->iterations, run->reference->value,
                 run->reference->gradient_norm);
    if (run->target->model->transformation.apply)
        text_add(out, "  groups    %zu effects of all factors, %s jointly\n",
                 run->target->dim - parameters, run->options->prior_only ? "drawn" : "sampled");
    if (run->geometry.rule.nodes > 0)
        text_add(out,
                 "  groups    %zu levels of '%s', integrated over with %zu quadrature points "
                 "per effect%s: estimated error of means %.1g posterior sd\n",
                 run->data.local_rows,
                 run->data.member_rows->groups->factor[run->data.member_rows->groups->by].name,
                 run->geometry.rule.nodes,
                 run->geometry.rule.by_polynomial ? " (polynomial approximation)" : "",
                 run->geometry.rule.error);
}

/* What is kept of effects of groups. */
static void describe_effects(const sbps_run *run, text *out)
{
    size_t count = effects_count(run);
    double megabytes = effects_bytes(run, count) / 1e6;
    effects_kept kept = effects_of_run(run);
    if (count > 0 && kept == EFFECTS_DRAWS)
        text_add(out, "  effects   %zu of groups: draws are kept, at most %.3g MB\n", count,
                 megabytes);
    if (count > 0 && kept == EFFECTS_MOMENTS)
        text_add(out,
                 "  effects   %zu of groups: means and sds are kept; their draws may take "
                 "%.4g MB, more than %.0f MB, and need --ranef all\n",
                 count, megabytes, EFFECTS_BYTES_MAX / 1e6);
}

/* Cautions about the parameters of a model. */
static const struct {
    const model_kind *model;
    const char *sentence;
} cautions[] = {
    {&model_network, "hidden units can be permuted and mirrored: predictions are identified, "
                     "the weights are not, and their R-hat may stay large"},
};

#define MAX_OFFSET 20.0 /* in the log of a mean count: a factor of e^20 is implausible */

/* An exposure given instead of its logarithm has no negative values and large ones. */
static void describe_offset(const rows *data, text *out)
{
    double smallest = INFINITY, largest = -INFINITY;
    for (size_t i = 0; i < data->local_rows; i++) {
        smallest = fmin(smallest, data->offset[i]);
        largest = fmax(largest, data->offset[i]);
    }
    if (smallest >= 0.0 && largest > MAX_OFFSET)
        text_add(out,
                 "  note      the offset ranges from %.3g to %.3g and is added to the log of "
                 "the mean: for an exposure, use its logarithm\n",
                 smallest, largest);
}

#define FAR_FROM_ZERO 10.0 /* sd of a column */

/* Warns if the prior of effects applies far from the data of a column. */
static void describe_slopes(const sbps_run *run, text *out)
{
    if (!run->target->model->row_model) return;
    const uncentred_slope s = mixed_farthest(run->target->self);
    if (s.sds < FAR_FROM_ZERO) return;
    text_add(out, "  note      the %s the effects of '",
             s.correlated ? "prior given for" : "independence assumed for");
    text_name(out, s.factor);
    text_add(out, "' applies at ");
    text_name(out, s.column);
    text_add(out,
             " = 0, %.3g sd from the mean of the column, which makes sampling slow: subtract "
             "%.4g from the column\n",
             s.sds, s.mean);
}

/* The information about a sd grows with the number of levels less one. */
#define FEW_LEVELS ((size_t)4)

/* Warns if a factor has too few levels to estimate its standard deviation. */
static void describe_few_levels(const sbps_run *run, text *out)
{
    const rows *member_rows = run->data.member_rows;
    for (size_t f = 0; member_rows && f < member_rows->groups->factors; f++) {
        const group_factor *factor = &member_rows->groups->factor[f];
        if (factor->levels > FEW_LEVELS) continue;
        text_add(out, "  note      %zu levels of '", factor->levels);
        text_name(out, factor->name);
        text_add(
            out,
            "' carry little information about their standard deviation: its prior matters\n");
    }
}

/* Lines "note": what the user should know or change. */
static void describe_cautions(const sbps_run *run, text *out)
{
    describe_slopes(run, out);
    describe_few_levels(run, out);
    for (size_t i = 0; i < sizeof cautions / sizeof *cautions; i++)
        if (cautions[i].model == run->plan->model)
            text_add(out, "  note      %s\n", cautions[i].sentence);
    if (run->table->data->offset && run->plan->model->support == SUPPORT_COUNTS)
        describe_offset(run->table->data, out);
}

/* The first line: model and response. */
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
    const char *family = run->family_reason ? run->family_reason : run->options->family;
    if (run->options->formula && *run->options->formula) {
        text_add(out, "  formula   ");
        text_name(out, run->options->formula);
        text_add(out, "\n");
    }
    if (family && *family) text_add(out, "  family    %s\n", family);
}

/* Names of the reported parameters, safe to print on a terminal; the caller's, NULL: no memory.
 */
static char **printable_names(const sbps_run *run)
{
    size_t d = run->target->dim;
    char **names = calloc(d, sizeof *names);
    bool whole = names;
    for (size_t j = 0; whole && j < d; j++) {
        text name = {0};
        text_name(&name, run->report.names[j]);
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
    sbps_run shown; /* a copy with printable names */
    *out = NULL;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    memcpy(&shown, run, sizeof shown);
    shown.report.coordinates = printable_names(run);
    if (shown.report.coordinates) {
        describe_model(&shown, &all);
        describe_cautions(&shown, &all);
        describe_size(&shown, &all);
        describe_effects(&shown, &all);
        if (list_priors(&shown, NULL) > PRIOR_LINES)
            group_priors(&shown, &all);
        else
            list_priors(&shown, &all);
        describe_sampler(&shown, &all);
        *out = text_take(&all);
    }
    free_texts(shown.report.coordinates, run->target->dim);
    numbers_end(&locale);
    return *out ? SBPS_OK : fail_memory(err);
}
