/* sbps map: the mode of the posterior; sbps laplace: the normal approximation there. */
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/rank_output.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the report to `path`, or to standard output (NULL). */
static sbps_status write_report(const char *text, const char *path, sbps_format format,
                                sbps_error *err)
{
    if (path) return sbps_text_write(text, path, err);
    if (format == SBPS_TEXT)
        print_coloured(stdout, text);
    else if (isatty(STDOUT_FILENO))
        print_plain(stdout, text);
    else
        fputs(text, stdout);
    return SBPS_OK;
}

/* The format of the flags, else of the file name. */
static sbps_format format_of(const arguments *args, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    if (flag_is_on(args, "csv")) return SBPS_CSV;
    if (flag_is_on(args, "json")) return SBPS_JSON;
    if (length > 4 && !strcmp(path + length - 4, ".csv")) return SBPS_CSV;
    if (length > 5 && !strcmp(path + length - 5, ".json")) return SBPS_JSON;
    return SBPS_TEXT;
}

/* Warns if the search ended farther from the mode than --tolerance; the best point found is
 * reported all the same. */
static void warn_about_mode(const sbps_mode *mode, const sbps_options *options)
{
    sbps_mode_info info = {.struct_size = sizeof info};
    sbps_mode_describe(mode, &info);
    if (info.distance > strtod(sbps_options_get(options, "tolerance"), NULL))
        print_message(
            "warning: %s stopped %.2g posterior sd away from the mode (by the gradient there)",
            info.method, info.distance);
}

/* Reads the table and finds the mode; the first rank shows the progress. */
static sbps_status find_mode(const arguments *args, const char *data,
                             const sbps_options *options, sbps_table **table, sbps_mode **mode,
                             sbps_error *err)
{
    char reading[PATH_MAX + 16];
    bool shown = is_first_rank(args->ranks);
    snprintf(reading, sizeof reading, "reading %s", data ? data : "nothing");
    status_line *w =
        status_line_begin(shown ? sbps_options_get(options, "progress") : "off", reading);
    sbps_status status = inputs_open(args->ranks, data, options, w, table, err);
    status_line_set(w, "searching for the mode", status == SBPS_OK ? *table : NULL);
    if (status == SBPS_OK) status = sbps_mode_find(*table, options, mode, err);
    status_line_end(w);
    return status;
}

/* Runs map or laplace: finds the mode, makes the report and writes it. Returns the exit
 * code. */
static int mode_command(const arguments *args,
                        sbps_status (*make_report)(const sbps_mode *mode, sbps_format format,
                                                   char **out, sbps_error *err))
{
    char *data = NULL;
    const char *name = args->command->name, *path = flag_value(args, "output", NULL);
    if (flag_is_on(args, "csv") && flag_is_on(args, "json")) {
        print_message("%s: use --csv or --json, not both", name);
        return CODE_USAGE;
    }
    sbps_error err = {0};
    sbps_options *options = NULL;
    sbps_table *table = NULL;
    sbps_mode *mode = NULL;
    char *text = NULL;
    interrupt_catch();
    sbps_status status = sbps_options_create(&options, &err);
    if (status == SBPS_OK) status = inputs_data(args, &data, &err);
    if (status == SBPS_OK) status = inputs_take(args, options, &err);
    if (status == SBPS_OK) status = inputs_check(name, options, data, &err);
    bool first = is_first_rank(args->ranks);
    if (status == SBPS_OK && first) status = files_check(args, options, data, &err);
    if (status == SBPS_OK) status = find_mode(args, data, options, &table, &mode, &err);
    if (status == SBPS_OK) status = make_report(mode, format_of(args, path), &text, &err);
    if (status == SBPS_OK && first)
        status = write_report(text, path, format_of(args, path), &err);
    if (status == SBPS_OK) warn_about_mode(mode, options);
    sbps_free(text);
    sbps_mode_destroy(mode);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    free(data);
    return report_status(status, &err);
}

static int map_run(const arguments *args)
{
    return mode_command(args, sbps_mode_report);
}

static const sbps_option_info mode_flags[] = {
    {"output", "FILE", "", "Output",
     "Write the result to FILE instead of standard output; an ending .csv or .json chooses the "
     "format."},
    {"csv", NULL, "", "Output", "CSV with full precision, which `sample --start` reads."},
    {"json", NULL, "", "Output", "JSON with the search and the parameters."},
};

static const char *const mode_outputs[] = {"output", NULL};

const command command_map = {
    .name = "map",
    .operands = "DATA... [FORMULA] --model NAME [--csv|--json] [-o FILE] [options]",
    .summary = "Find the mode of the posterior.",
    .detail =
        "Prints the value of each parameter, the potential U there (minus the log posterior), "
        "the norm of its gradient and the cost of the search.\n\n"
        "  sbps map flights.csv --model logistic --target delayed --method sag",
    .max_operands = SIZE_MAX,
    .flags = mode_flags,
    .flag_count = sizeof mode_flags / sizeof *mode_flags,
    .outputs = mode_outputs,
    .library_options = true,
    .by_ranks = true,
    .run = map_run,
};

/* ---- laplace ---- */

/* The report of the normal approximation at a mode. */
static sbps_status report_laplace(const sbps_mode *mode, sbps_format format, char **out,
                                  sbps_error *err)
{
    sbps_laplace *laplace = NULL;
    sbps_status status = sbps_laplace_create(mode, &laplace, err);
    if (status == SBPS_OK) status = sbps_laplace_report(laplace, format, out, err);
    sbps_laplace_destroy(laplace);
    return status;
}

static int laplace_run(const arguments *args)
{
    return mode_command(args, report_laplace);
}

const command command_laplace = {
    .name = "laplace",
    .operands = "DATA... [FORMULA] --model NAME [--csv|--json] [-o FILE] [options]",
    .summary = "Approximate the posterior by a normal distribution at its mode.",
    .detail =
        "Prints mean and sd of each parameter, their covariance, and the distribution of the "
        "negative log-likelihood per row, which is NLL/N at the mode plus chi^2(d)/2N. "
        "Positive "
        "parameters are approximated on the log scale: log(sigma).\n\n"
        "  sbps laplace flights.csv --model logistic --target delayed -o normal.csv\n"
        "  sbps sample flights.csv --model logistic --target delayed --start normal.csv",
    .max_operands = SIZE_MAX,
    .flags = mode_flags,
    .flag_count = sizeof mode_flags / sizeof *mode_flags,
    .outputs = mode_outputs,
    .library_options = true,
    .by_ranks = true,
    .run = laplace_run,
};
