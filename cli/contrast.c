/* sbps contrast: posteriors of expressions of parameters. */
#include "cli/cli.h"
#include "cli/guard.h"

typedef struct {
    const char *path;
    const char *const *expressions;
    size_t count;
    sbps_format format;
} request;

static sbps_status print_contrasts(const void *self, sbps_error *err)
{
    const request *r = self;
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
    request r = {args->operands[0], args->operands + 1, args->operand_count - 1, SBPS_TEXT};
    if (!flags_format(args, &r.format)) return CODE_USAGE;
    return report_status(guard(r.path, print_contrasts, &r, &err), &err);
}

static const sbps_option_info contrast_flags[] = {
    {"csv", NULL, "", "Format", "Comma-separated, full precision."},
    {"json", NULL, "", "Format", "JSON: the expressions and what is said of each."},
};

const command command_contrast = {
    .name = "contrast",
    .operands = "RUN.nc EXPRESSION... [--csv|--json]",
    .summary = "Tell the posterior of expressions of parameters.",
    .detail =
        "For each expression mean, sd, quantiles and the probability of being above 0, with "
        "Monte Carlo errors, from the stored draws.\n\n"
        "Parameters stand as the summary spells them, in backticks where that could be read in "
        "two ways; numbers, + - * / ^ and parentheses, the functions exp, log, sqrt, abs, "
        "logit, inv_logit, min and max, and comparisons (< <= > >= == !=), which are 1 where "
        "they hold. -- before the first one lets expressions begin with a sign.\n\n"
        "  sbps contrast run.nc \"x1 - x2\" \"exp(group=a)\" \"x1 > x2\"",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .why = "want a run's file and an expression: `sbps contrast RUN.nc \"x1 - x2\"`",
    .flags = contrast_flags,
    .flag_count = 2,
    .run = contrast_run,
};
