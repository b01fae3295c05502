/* The summary of a run. Mean, sd, Monte Carlo error and bias were integrated along the path and
 * are read from the result; quantiles, ESS and R-hat are computed from the stored draws.
 *
 * JSON (RFC 8259) is {"run": {...}, "parameters": [...]}. Numbers are written so that they read
 * back to the same double; NaN and infinities are null. Bytes that are not UTF-8 become the
 * replacement character. */
#include "output/summary/summary.h"

#include "core/decimal.h"
#include "core/json.h"
#include "estimate/diagnostics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* Scripts rely on the order of columns: a new one goes after those of its kind. */
/* A column from the result (the whole path), and one from the stored draws. */
#define PATH(field)                                                                            \
    .name = #field, .source = offsetof(result, field), .offset = offsetof(sbps_parameter, field)
#define DRAWS(field)                                                                           \
    .name = #field, .from_draws = true, .source = offsetof(draw_summary, field),               \
    .offset = offsetof(sbps_parameter, field)

const column table_columns[] = {
    {PATH(mean), .kind = CELL_VALUE, .summary = "posterior mean, from the whole path"},
    {PATH(mcse), .kind = CELL_ERROR, .summary = "Monte Carlo standard error of the mean"},
    {PATH(sd), .kind = CELL_VALUE,
     .summary = "posterior standard deviation, from the whole path"},
    {DRAWS(q5), .kind = CELL_VALUE, .summary = "quantile at 5 %, from the stored draws"},
    {DRAWS(q50), .kind = CELL_VALUE, .summary = "median, from the stored draws"},
    {DRAWS(q95), .kind = CELL_VALUE, .summary = "quantile at 95 %, from the stored draws"},
    {DRAWS(ess_bulk), .kind = CELL_COUNT,
     .summary = "effective sample size of the rank-normalised draws"},
    {DRAWS(ess_tail), .kind = CELL_COUNT,
     .summary = "the smaller of the effective sample sizes of the quantiles at 5 % and 95 %"},
    {DRAWS(rhat), .kind = CELL_RATIO,
     .summary = "rank-normalised split R-hat: 1 where the chains agree"},
    {PATH(bias), .kind = CELL_RATIO,
     .summary = "estimated bias of the mean, in posterior standard deviations"},
    {0},
};
_Static_assert(sizeof table_columns / sizeof *table_columns <= MAX_COLUMNS,
               "a grid has MAX_COLUMNS widths");

/* Columns that only JSON has, after the others. */
static const column further_columns[] = {
    {PATH(bias_se), .kind = CELL_RATIO,
     .summary = "standard error of the bias of the mean; only in JSON"},
    {PATH(sd_bias), .kind = CELL_RATIO,
     .summary = "estimated relative bias of the sd; only in JSON"},
    {PATH(sd_bias_se), .kind = CELL_RATIO,
     .summary = "standard error of the bias of the sd; only in JSON"},
    {0},
};

const column *column_at(size_t index)
{
    const column *c = table_columns;
    for (; c->name; c++)
        if (index-- == 0) return c;
    for (c = further_columns; c->name; c++)
        if (index-- == 0) return c;
    return NULL;
}

/* ---- values ---- */

double rows_per_sample(const result_info *info)
{
    return info->min_ess > 0.0 ? info->rows_touched / info->min_ess : NAN;
}

/* Coefficients are recognised by the design column that the result stores, since a column of
 * the user may have any name. */
const char *parameter_part(const result *r, size_t j)
{
    const char *name = r->names[j] ? r->names[j] : "";
    const char *of = r->column[j] ? r->column[j] : "", *last = strrchr(name, ':');
    const char *own = last ? last + 1 : name;
    bool named = !strcmp(own, "intercept") || !strcmp(own, "(Intercept)");
    if (!isnan(r->column_mean[j])) return named && !*of ? "intercept" : "coefficient";
    if (!r->info.formula || !strchr(r->info.formula, '|')) return "";
    if (!strncmp(name, "r_", 2) && strchr(name, '[')) return "effect";
    if (!strncmp(name, "sd_", 3) && strstr(name, "__")) return "sd";
    return !strncmp(name, "cor_", 4) && strstr(name, "__") ? "cor" : "";
}

/* The summary of parameter j; `buffer` holds its draws. */
static sbps_status summarize_one(const result *r, size_t j, double *buffer, sbps_parameter *out,
                                 sbps_error *err)
{
    draw_summary s;
    size_t k = 0;
    for (size_t i = 0; i < r->chains * r->draws; i++) buffer[i] = r->w[i * r->dim + j];
    sbps_status status = summarize_draws(r->chains, r->draws, buffer, &s, err);
    if (status != SBPS_OK) return status;
    *out =
        (sbps_parameter){.name = r->names[j] ? r->names[j] : "", .part = parameter_part(r, j)};
    for (const column *c; (c = column_at(k)); k++) {
        double *to = (double *)((char *)out + c->offset);
        if (c->from_draws)
            *to = *(const double *)((const char *)&s + c->source);
        else
            *to = (*(double *const *)((const char *)r + c->source))[j];
    }
    if (r->draws == 0)
        out->mean = out->mcse = out->sd = out->bias = NAN; /* interrupted in warm-up */
    return SBPS_OK;
}

/* A buffer for the draws of one parameter, malloced. */
static double *new_draw_buffer(const result *r)
{
    return malloc((r->chains * r->draws + 1) * sizeof(double));
}

sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err)
{
    if (index >= r->dim)
        return fail(err, SBPS_BAD_ARG,
                    "there is no parameter number %zu: the result has %zu, numbered from 0",
                    index, r->dim);
    double *buffer = new_draw_buffer(r);
    if (!buffer) return fail_memory(err);
    sbps_status status = summarize_one(r, index, buffer, out, err);
    free(buffer);
    return status;
}

sbps_status summarize_range(const result *r, size_t first, size_t count, sbps_parameter **out,
                            sbps_error *err)
{
    sbps_status status = SBPS_OK;
    sbps_parameter *all = calloc(count + 1, sizeof *all);
    double *buffer = new_draw_buffer(r);
    *out = NULL;
    if (!all || !buffer) {
        status = fail_memory(err);
        goto done;
    }
    for (size_t j = 0; j < count && status == SBPS_OK; j++)
        status = summarize_one(r, first + j, buffer, &all[j], err);
    if (status != SBPS_OK) goto done;
    *out = all;
    all = NULL;
done:
    free(buffer);
    free(all);
    return status;
}

sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err)
{
    return summarize_range(r, 0, r->dim, out, err);
}

/* ---- CSV and JSON ---- */

static void write_summary_csv(text *t, const result *r, const sbps_parameter *parameters)
{
    grid_csv(t, &(grid){PARAMETER_GRID(parameters, r->dim)});
}

/* A member of "run": its key, and how its value in a result is written. */
typedef struct {
    const char *key;
    void (*add)(text *t, const void *value);
    size_t offset; /* in result */
} run_field;

static void add_number(text *t, const void *value)
{
    json_number(t, *(const double *)value);
}

static void add_text(text *t, const void *value)
{
    const char *string = *(char *const *)value;
    if (string)
        json_string(t, string);
    else
        text_add(t, "null");
}

static void add_size(text *t, const void *value)
{
    text_add(t, "%zu", *(const size_t *)value);
}

static void add_flag(text *t, const void *value)
{
    text_add(t, *(const bool *)value ? "true" : "false");
}

/* The order up to seconds_sampling is stable; new keys are appended. */
static const run_field run_fields[] = {
    {"sampler", add_text, offsetof(result, info.sampler)},
    {"model", add_text, offsetof(result, info.model)},
    {"rows", add_number, offsetof(result, info.rows)},
    {"dim", add_size, offsetof(result, dim)},
    {"chains", add_size, offsetof(result, chains)},
    {"seed", add_number, offsetof(result, info.seed)},
    {"batch_size", add_number, offsetof(result, info.batch_size)},
    {"band", add_number, offsetof(result, info.band)},
    {"control_variate", add_text, offsetof(result, info.control_variate)},
    {"metric", add_text, offsetof(result, info.metric)},
    {"proposals", add_number, offsetof(result, info.proposals)},
    {"bounces", add_number, offsetof(result, info.bounces)},
    {"refreshments", add_number, offsetof(result, info.refreshments)},
    {"violations", add_number, offsetof(result, info.violations)},
    {"missing_bounces", add_number, offsetof(result, info.missing_bounces)},
    {"rows_touched", add_number, offsetof(result, info.rows_touched)},
    {"bias_estimate", add_number, offsetof(result, info.bias_estimate)},
    {"min_ess", add_number, offsetof(result, info.min_ess)},
    {"passes_setup", add_number, offsetof(result, info.passes_setup)},
    {"pareto_k", add_number, offsetof(result, info.pareto_k)},
    {"seconds_setup", add_number, offsetof(result, info.seconds_setup)},
    {"seconds_warmup", add_number, offsetof(result, info.seconds_warmup)},
    {"seconds_sampling", add_number, offsetof(result, info.seconds_sampling)},
    {"eta", add_number, offsetof(result, info.eta)},
    {"refresh_rate", add_number, offsetof(result, info.refresh_rate)},
    {"minibatch", add_text, offsetof(result, info.minibatch)},
    {"bias_budget", add_number, offsetof(result, info.bias_budget)},
    {"ess_goal", add_number, offsetof(result, info.ess_goal)},
    {"paper", add_flag, offsetof(result, info.paper)},
    {"interrupted", add_flag, offsetof(result, info.interrupted)},
    {"draws", add_size, offsetof(result, draws)},
    {"target", add_text, offsetof(result, info.target)},
    {"created_at", add_text, offsetof(result, info.created_at)},
    {"expected_violations", add_number, offsetof(result, info.expected_violations)},
    {"refreshments_per_sd", add_number, offsetof(result, info.refreshments_per_sd)},
    {"reference_distance", add_number, offsetof(result, info.reference_distance)},
    {"unsettled", add_flag, offsetof(result, info.unsettled)},
    {"band_capped", add_flag, offsetof(result, info.band_capped)},
    {"bias_estimate_se", add_number, offsetof(result, info.bias_estimate_se)},
    {"eta_unmet", add_number, offsetof(result, info.eta_unmet)},
    {"influential_rows", add_text, offsetof(result, info.influential_rows)},
    {"replanned", add_text, offsetof(result, info.replanned)},
};

/* Members of runs on several ranks. */
static const run_field rank_fields[] = {
    {"ranks", add_number, offsetof(result, info.ranks)},
    {"rank_error", add_number, offsetof(result, info.rank_error)},
    {"rank_bias", add_number, offsetof(result, info.rank_bias)},
    {"rank_rhat", add_number, offsetof(result, info.rank_rhat)},
};

/* A member of "run". */
static void add_field(text *t, const result *r, const run_field *of)
{
    text_add(t, "    \"%s\": ", of->key);
    of->add(t, (const char *)r + of->offset);
    text_add(t, ",\n");
}

/* The member "run", and for several ranks their members. */
static void add_run(text *t, const result *r)
{
    text_add(t, "  \"run\": {\n");
    for (size_t i = 0; i < sizeof run_fields / sizeof *run_fields; i++)
        add_field(t, r, &run_fields[i]);
    if (r->info.ranks > 1.0)
        for (size_t i = 0; i < sizeof rank_fields / sizeof *rank_fields; i++)
            add_field(t, r, &rank_fields[i]);
    if (result_prior_only(r)) text_add(t, "    \"prior_only\": true,\n");
    text_add(t, "    \"version\": \"%s\"\n  },\n", SBPS_VERSION);
}

/* An element of "parameters". */
static void add_parameter(text *t, const sbps_parameter *p)
{
    size_t k = 0;
    text_add(t, "    {\"name\": ");
    json_string(t, p->name);
    for (const column *c; (c = column_at(k)); k++) {
        text_add(t, ", \"%s\": ", c->name);
        json_number(t, column_value(c, p));
    }
    text_add(t, "}");
}

static void write_summary_json(text *t, const result *r, const sbps_parameter *parameters)
{
    text_add(t, "{\n");
    add_run(t, r);
    text_add(t, "  \"parameters\": [\n");
    for (size_t j = 0; j < r->dim; j++) {
        add_parameter(t, &parameters[j]);
        text_add(t, j + 1 < r->dim ? ",\n" : "\n");
    }
    text_add(t, "  ]\n}\n");
}

static void write_summary(text *t, const result *r, sbps_format format, unsigned show,
                          const sbps_parameter *parameters)
{
    if (format == SBPS_CSV)
        write_summary_csv(t, r, parameters);
    else if (format == SBPS_JSON)
        write_summary_json(t, r, parameters);
    else
        write_summary_text(t, r, parameters, show);
}

sbps_status report_summary_with(const result *r, sbps_format format, unsigned show, char **out,
                                sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    *out = NULL;
    if (format != SBPS_TEXT && format != SBPS_CSV && format != SBPS_JSON)
        return fail(err, SBPS_BAD_ARG, "a summary has no format %d: use text, CSV or JSON",
                    (int)format);
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto done;
    write_summary(&t, r, format, show, parameters);
    numbers_end(&locale);
    status = text_give(&t, out, err);
done:
    free(parameters);
    return status;
}

sbps_status report_summary(const result *r, sbps_format format, char **out, sbps_error *err)
{
    return report_summary_with(r, format, 0, out, err);
}
