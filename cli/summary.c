/* sbps summary, sbps diagnose: what a stored run says. */
#include "cli/cli.h"
#include "cli/guard.h"
#include <unistd.h>

typedef struct {
    const char *path;
    sbps_format format;
} request;

/* Prints a text of the library's and gives it back. */
static sbps_status print_text(sbps_status status, sbps_format format, char *text)
{
    bool plain = format == SBPS_TEXT || isatty(STDOUT_FILENO);
    if (status == SBPS_OK && plain) print_plain(stdout, text);
    if (status == SBPS_OK && !plain) fputs(text, stdout);
    sbps_free(text);
    return status;
}

static sbps_status print_summary(const void *self, sbps_error *err)
{
    const request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK) status = sbps_result_summary(result, r->format, &text, err);
    sbps_result_destroy(result);
    return print_text(status, r->format, text);
}

static sbps_status print_diagnosis(const void *self, sbps_error *err)
{
    const request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    size_t findings;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK) status = sbps_result_diagnose(result, &text, &findings, err);
    sbps_result_destroy(result);
    return print_text(status, SBPS_TEXT, text);
}

static int summary_run(const arguments *given)
{
    bool csv = flag_is_on(given, "csv"), json = flag_is_on(given, "json");
    if (csv && json) {
        complain("summary: --csv and --json exclude each other");
        return CODE_USAGE;
    }
    sbps_error err = {0};
    request r = {given->operands[0], csv ? SBPS_CSV : json ? SBPS_JSON : SBPS_TEXT};
    return report_status(guard(r.path, print_summary, &r, &err), &err);
}

static int diagnose_run(const arguments *given)
{
    sbps_error err = {0};
    request r = {.path = given->operands[0]};
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
    .least = 1,
    .most = 1,
    .why = "the run's file is missing: want `sbps summary RUN.nc`",
    .flags = summary_flags,
    .flag_count = 2,
    .run = summary_run,
};

const command command_diagnose = {
    .name = "diagnose",
    .operands = "RUN.nc",
    .summary = "Say in words what is wrong with a run, and what to do about it.",
    .least = 1,
    .most = 1,
    .why = "the run's file is missing: want `sbps diagnose RUN.nc`",
    .flags = (const sbps_option_info[]){{0}}, /* none */
    .run = diagnose_run,
};
