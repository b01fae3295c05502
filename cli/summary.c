/* Subcommands that report on a stored run: sbps summary, diagnose, contrast and report. Each
 * reads the run in a child process (guard). */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/run_rows.h"

/* What the child process needs. */
typedef struct {
    const char *path; /* the run file */
    sbps_format format;
    unsigned show; /* of a text: SBPS_SHOW_... */
    bool effects;  /* the table of effects of groups */
} summary_request;

/* Reads the run and prints its summary, for guard(). */
static sbps_status print_summary(const void *self, sbps_error *err)
{
    const summary_request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK && r->effects)
        status = sbps_result_effects(result, r->format, &text, err);
    else if (status == SBPS_OK && r->format == SBPS_TEXT)
        status = sbps_result_text(result, r->show, &text, err);
    else if (status == SBPS_OK)
        status = sbps_result_summary(result, r->format, &text, err);
    sbps_result_destroy(result);
    return print_report(status, r->format, text);
}

/* Reads the run and prints its findings, for guard(). */
static sbps_status print_diagnosis(const void *self, sbps_error *err)
{
    const summary_request *r = self;
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
    summary_request r = {.path = args->operands[0], .effects = flag_is_on(args, "effects")};
    if (!flags_format(args, &r.format)) return CODE_USAGE;
    if (flag_is_on(args, "ranef")) r.show |= SBPS_SHOW_EFFECTS;
    if (flag_is_on(args, "verbose")) r.show |= SBPS_SHOW_RUN;
    return report_status(guard(r.path, print_summary, &r, &err), &err);
}

static int diagnose_run(const arguments *args)
{
    sbps_error err = {0};
    summary_request r = {.path = args->operands[0],
                         .format = flag_is_on(args, "json") ? SBPS_JSON : SBPS_TEXT};
    return report_status(guard(r.path, print_diagnosis, &r, &err), &err);
}

static const sbps_option_info summary_flags[] = {
    {.name = "csv",
     .fallback = "",
     .group = "Format",
     .help = "Print CSV with full precision."},
    {.name = "json",
     .fallback = "",
     .group = "Format",
     .help = "Print JSON: the run and its parameters."},
    {.name = "ranef",
     .fallback = "",
     .group = "Format",
     .help =
         "Print the effects of single levels of groups, too. CSV and JSON always have them."},
    {.name = "verbose",
     .fallback = "",
     .group = "Format",
     .help = "Print sampler, settings, stated bias and costs of the run, too. JSON always has "
             "them."},
    {.name = "effects",
     .fallback = "",
     .group = "Content",
     .help = "List the effects of groups, r_GROUP[level,COLUMN], instead of the parameters. "
             "Where the run keeps means and sds only, the table has these two columns."},
};

const command command_summary = {
    .name = "summary",
    .operands = "RUN.nc [--csv|--json] [--ranef|--effects] [--verbose]",
    .summary = "Print formula, family, rows, and a table of the posterior.",
    .detail = "Parameters are in sections: fixed effects, standard deviations and correlations "
              "of groups, other parameters. Columns, after the name:",
    .kinds = "columns",
    .min_operands = 1,
    .max_operands = 1,
    .missing = "the run file is missing; usage: sbps summary RUN.nc",
    .flags = summary_flags,
    .flag_count = sizeof summary_flags / sizeof *summary_flags,
    .run = summary_run,
};

const command command_diagnose = {
    .name = "diagnose",
    .operands = "RUN.nc [--json]",
    .summary = "Explain what is wrong with a run, if anything, and what to do about it.",
    .min_operands = 1,
    .max_operands = 1,
    .missing = "the run file is missing; usage: sbps diagnose RUN.nc",
    .flags = (const sbps_option_info[]){{"json", NULL, "", "Format",
                                         "Print JSON: the findings, each with what to do."}},
    .flag_count = 1,
    .run = diagnose_run,
};

/* ---- contrast ---- */

typedef struct {
    const char *path;
    const char *const *expressions;
    size_t count;
    sbps_format format;
} contrast_request;

/* Reads the run and prints the summaries of the expressions, for guard(). */
static sbps_status print_contrasts(const void *self, sbps_error *err)
{
    const contrast_request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK)
        status = sbps_result_contrast(result, r->expressions, r->count, r->format, &text, err);
    sbps_result_destroy(result);
    return print_report(status, r->format, text);
}

static int contrast_run(const arguments *args)
{
    sbps_error err = {0};
    contrast_request r = {args->operands[0], args->operands + 1, args->operand_count - 1,
                          SBPS_TEXT};
    if (!flags_format(args, &r.format)) return CODE_USAGE;
    return report_status(guard(r.path, print_contrasts, &r, &err), &err);
}

static const sbps_option_info contrast_flags[] = {
    {"csv", NULL, "", "Format", "Print CSV with full precision."},
    {"json", NULL, "", "Format", "Print JSON: the expressions and their summaries."},
};

const command command_contrast = {
    .name = "contrast",
    .operands = "RUN.nc EXPRESSION... [--csv|--json]",
    .summary = "Summarise functions of the parameters.",
    .detail =
        "Prints mean, sd, quantiles and the probability of being above 0 of each expression, "
        "with Monte "
        "Carlo errors, from the stored draws.\n\n"
        "An expression has parameters, spelled as in the summary, or in backticks if that is "
        "ambiguous; numbers, + - * / ^ and parentheses; the functions exp, log, sqrt, abs, "
        "logit, "
        "inv_logit, min and max; and comparisons (< <= > >= == !=), which are 1 if they hold "
        "and 0 "
        "if not. Put -- before an expression that begins with a sign.\n\n"
        "  sbps contrast run.nc \"x1 - x2\" \"exp(group=a)\" \"x1 > x2\"",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .missing = "name a run file and an expression; usage: sbps contrast RUN.nc \"x1 - x2\"",
    .flags = contrast_flags,
    .flag_count = 2,
    .run = contrast_run,
};

/* ---- report ---- */

enum { DRAWS_MAX = 4000 }; /* used for predictive checks */

typedef struct {
    const char *path;
    const char *data;     /* NULL: the run alone */
    const char *page;     /* NULL: standard output */
    const char *encoding; /* of the data; NULL: UTF-8 */
} page_request;

/* Reads the run and writes its page, for guard(). */
static sbps_status write_page(const void *self, sbps_error *err)
{
    const page_request *r = self;
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(r->path, &result, err);
    if (status == SBPS_OK) {
        const sbps_scoring how = {.struct_size = sizeof how,
                                  .rows = SIZE_MAX,
                                  .max_draws = DRAWS_MAX,
                                  .seed = 1,
                                  .encoding = r->encoding};
        status = sbps_result_page(result, r->path, r->data, &how, &text, err);
    }
    if (status == SBPS_OK && r->page) status = sbps_text_write(text, r->page, err);
    if (status == SBPS_OK && !r->page) fputs(text, stdout);
    sbps_free(text);
    sbps_result_destroy(result);
    return status;
}

static int report_run(const arguments *args)
{
    sbps_error err = {0};
    size_t runs;
    const page_request r = {
        args->operands[0], args->operand_count > 1 ? args->operands[1] : NULL,
        flag_value(args, "output", NULL), flag_value(args, "encoding", NULL)};
    sbps_status status = run_operands(args, 1, &runs, &err);
    if (status == SBPS_OK) status = files_check(args, NULL, r.data, &err);
    if (status == SBPS_OK) status = guard(r.path, write_page, &r, &err);
    return report_status(status, &err);
}

static const sbps_option_info report_flags[] = {
    {"output", "FILE", "", "Output", "Write the page to FILE instead of standard output."},
    {"encoding", "utf-8|latin1|windows-1252", "utf-8", "Output",
     "Character encoding of DATA.csv."},
};

const command command_report = {
    .name = "report",
    .operands = "RUN.nc [DATA.csv] [-o PAGE.html]",
    .summary = "Write a web page about a run: verdict, coefficients, errors, chains, priors.",
    .detail = "The page is one HTML file that needs no network: whether the results can be "
              "trusted and why, "
              "a forest plot, the stated bias and the Monte Carlo error, traces and ranks, the "
              "growth "
              "of the effective sample size, densities and priors, the most correlated pairs, "
              "and the "
              "settings of the run. With DATA.csv, the run's own table, it also has predictive "
              "checks "
              "and leave-one-out predictions.\n\n"
              "  sbps report run.nc -o page.html\n\n"
              "  sbps report run.nc data.csv -o page.html",
    .min_operands = 1,
    .max_operands = 2,
    .missing = "the run file is missing; usage: sbps report RUN.nc -o PAGE.html",
    .flags = report_flags,
    .flag_count = 2,
    .outputs = (const char *const[]){"output", NULL},
    .reads_run = true,
    .run = report_run,
};
