/* sbps summary, sbps diagnose: what a stored run says. */
#include "cli/cli.h"
#include "cli/guard.h"

typedef struct {
    const char *path;
    sbps_format format;
} request;

static sbps_status print_summary(const void *self, sbps_error *err)
{
    const request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK) status = sbps_result_summary(result, r->format, &text, err);
    sbps_result_destroy(result);
    return print_report(status, r->format, text);
}

static sbps_status print_diagnosis(const void *self, sbps_error *err)
{
    const request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    size_t findings;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK && r->format == SBPS_JSON)
        status = sbps_result_findings(result, &text, err);
    else if (status == SBPS_OK)
        status = sbps_result_diagnose(result, &text, &findings, err);
    sbps_result_destroy(result);
    return print_report(status, r->format, text);
}

static int summary_run(const arguments *args)
{
    sbps_error err = {0};
    request r = {.path = args->operands[0]};
    if (!flags_format(args, &r.format)) return CODE_USAGE;
    return report_status(guard(r.path, print_summary, &r, &err), &err);
}

static int diagnose_run(const arguments *args)
{
    sbps_error err = {0};
    request r = {args->operands[0], flag_is_on(args, "json") ? SBPS_JSON : SBPS_TEXT};
    return report_status(guard(r.path, print_diagnosis, &r, &err), &err);
}

static const sbps_option_info summary_flags[] = {
    {.name = "csv",
     .fallback = "",
     .group = "Format",
     .help = "Comma-separated, full precision."},
    {.name = "json",
     .fallback = "",
     .group = "Format",
     .help = "JSON: the run and its parameters."},
};

const command command_summary = {
    .name = "summary",
    .operands = "RUN.nc [--csv|--json]",
    .summary = "Print the table of the posterior.",
    .detail = "Columns, after the name:",
    .kinds = "columns",
    .min_operands = 1,
    .max_operands = 1,
    .why = "the run's file is missing: want `sbps summary RUN.nc`",
    .flags = summary_flags,
    .flag_count = 2,
    .run = summary_run,
};

const command command_diagnose = {
    .name = "diagnose",
    .operands = "RUN.nc [--json]",
    .summary = "Say in words what is wrong with a run, and what to do about it.",
    .min_operands = 1,
    .max_operands = 1,
    .why = "the run's file is missing: want `sbps diagnose RUN.nc`",
    .flags = (const sbps_option_info[]){{"json", NULL, "", "Format",
                                         "JSON: the findings, each with what to do."}},
    .flag_count = 1,
    .run = diagnose_run,
};
