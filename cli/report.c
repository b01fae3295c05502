/* sbps report: a stored run as a page. */
#include "cli/cli.h"
#include "cli/file_conflicts.h"
#include "cli/guard.h"
#include <stdint.h>

enum { DRAWS_MAX = 4000 }; /* to look at rows by */

typedef struct {
    const char *path;
    const char *data; /* NULL: the run alone */
    const char *page; /* NULL: standard output */
} request;

static sbps_status make_page(const request *r, const sbps_result *result, char **out,
                             sbps_error *err)
{
    static const sbps_scoring how = {
        .struct_size = sizeof how, .rows = SIZE_MAX, .max_draws = DRAWS_MAX, .seed = 1};
    return sbps_result_page(result, r->path, r->data, &how, out, err);
}

static sbps_status write_page(const void *self, sbps_error *err)
{
    const request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK) status = make_page(r, result, &text, err);
    if (status == SBPS_OK && r->page) status = sbps_text_write(text, r->page, err);
    if (status == SBPS_OK && !r->page) fputs(text, stdout);
    sbps_free(text);
    sbps_result_destroy(result);
    return status;
}

static int report_run(const arguments *args)
{
    sbps_error err = {0};
    const request r = {args->operands[0], args->operand_count > 1 ? args->operands[1] : NULL,
                       flag_value(args, "output", NULL)};
    sbps_status status = files_check(args, NULL, r.data, &err);
    if (status == SBPS_OK) status = guard(r.path, write_page, &r, &err);
    return report_status(status, &err);
}

static const sbps_option_info report_flags[] = {
    {"output", "FILE", "", "Output", "Where the page goes instead of standard output."},
};

const command command_report = {
    .name = "report",
    .operands = "RUN.nc [DATA.csv] [-o PAGE.html]",
    .summary = "Make a page of a run: verdict, coefficients, errors, chains, priors.",
    .detail = "One file of HTML that needs no other and no network, to look at, print or send: "
              "whether the "
              "numbers can be trusted and why, a forest plot, the stated bias beside the Monte "
              "Carlo error, "
              "traces and ranks, the effective sample size as it grew, densities against "
              "priors, the most "
              "correlated pairs, and what was run. With DATA.csv, the run's own table, also "
              "predictive checks and how well each row is predicted by the others.\n\n"
              "  sbps report run.nc -o page.html\n\n"
              "  sbps report run.nc data.csv -o page.html",
    .min_operands = 1,
    .max_operands = 2,
    .why = "the run's file is missing: want `sbps report RUN.nc -o PAGE.html`",
    .flags = report_flags,
    .flag_count = 1,
    .outputs = (const char *const[]){"output", NULL},
    .reads_run = true,
    .run = report_run,
};
