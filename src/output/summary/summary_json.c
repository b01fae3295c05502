/* The summary as JSON (RFC 8259): {"run": {...}, "parameters": [...]}. Numbers give the same
 * double back; what JSON cannot write (NaN, infinities) is null. Bytes that are no UTF-8 become
 * the replacement character. */
#include "output/summary/report_fields.h"
#include "output/summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The order up to seconds_sampling is promised; further keys may follow. */
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

/* Of runs on several. */
static const run_field rank_fields[] = {
    {"ranks", add_number, offsetof(result, info.ranks)},
    {"rank_error", add_number, offsetof(result, info.rank_error)},
    {"rank_bias", add_number, offsetof(result, info.rank_bias)},
    {"rank_rhat", add_number, offsetof(result, info.rank_rhat)},
};

static void add_field(text *t, const result *r, const run_field *of)
{
    text_add(t, "    \"%s\": ", of->key);
    of->add(t, (const char *)r + of->offset);
    text_add(t, ",\n");
}

static void add_run(text *t, const result *r)
{
    text_add(t, "  \"run\": {\n");
    for (size_t i = 0; i < sizeof run_fields / sizeof *run_fields; i++)
        add_field(t, r, &run_fields[i]);
    if (r->info.ranks > 1.0)
        for (size_t i = 0; i < sizeof rank_fields / sizeof *rank_fields; i++)
            add_field(t, r, &rank_fields[i]);
    text_add(t, "    \"version\": \"%s\"\n  },\n", SBPS_VERSION);
}

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

void write_json(text *t, const result *r, const sbps_parameter *parameters)
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
