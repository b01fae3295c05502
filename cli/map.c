/* sbps map: the mode of the posterior. */
#include "cli/file_conflicts.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/several.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sbps_status hand_over(const char *text, const char *path, sbps_format format,
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

/* CSV when the file's name says so. */
static sbps_format format_of(const arguments *args, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    if (flag_is_on(args, "csv")) return SBPS_CSV;
    if (flag_is_on(args, "json")) return SBPS_JSON;
    if (length > 4 && !strcmp(path + length - 4, ".csv")) return SBPS_CSV;
    if (length > 5 && !strcmp(path + length - 5, ".json")) return SBPS_JSON;
    return SBPS_TEXT;
}

/* A surface without a mode within reach, such as a network's, gives the best point that was found. */
static void warn(const sbps_mode *mode, const sbps_options *options)
{
    sbps_mode_info info = {.struct_size = sizeof info};
    sbps_mode_describe(mode, &info);
    if (info.distance > strtod(sbps_options_get(options, "tolerance"), NULL))
        complain("warning: %s ended %.2g posterior sd from the mode, by the gradient there",
                 info.method, info.distance);
}

/* The table and its mode; what takes long is shown. */
static sbps_status find_mode(const arguments *args, const char *data,
                             const sbps_options *options, sbps_table **table, sbps_mode **mode,
                             sbps_error *err)
{
    char reading[PATH_MAX + 16];
    bool shown = several_first(args->ranks);
    snprintf(reading, sizeof reading, "reading %s", data ? data : "nothing");
    waiting *w = waiting_begin(shown ? sbps_options_get(options, "progress") : "off", reading);
    sbps_status status = inputs_open(args->ranks, data, options, w, table, err);
    waiting_for(w, "searching for the mode", status == SBPS_OK ? *table : NULL);
    if (status == SBPS_OK) status = sbps_mode_find(*table, options, mode, err);
    waiting_end(w);
    return status;
}

int mode_command(const arguments *args,
                 sbps_status (*make_report)(const sbps_mode *mode, sbps_format format,
                                            char **out, sbps_error *err))
{
    char *data = NULL;
    const char *name = args->command->name, *path = flag_value(args, "output", NULL);
    if (flag_is_on(args, "csv") && flag_is_on(args, "json")) {
        complain("%s: --csv and --json exclude each other", name);
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
    bool first = several_first(args->ranks);
    if (status == SBPS_OK && first) status = files_check(args, options, data, &err);
    if (status == SBPS_OK) status = find_mode(args, data, options, &table, &mode, &err);
    if (status == SBPS_OK) status = make_report(mode, format_of(args, path), &text, &err);
    if (status == SBPS_OK && first) status = hand_over(text, path, format_of(args, path), &err);
    if (status == SBPS_OK) warn(mode, options);
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

const sbps_option_info mode_flags[MODE_FLAGS] = {
    {"output", "FILE", "", "Output",
     "Where it goes instead of standard output; a name in .csv or .json chooses the format."},
    {"csv", NULL, "", "Output", "Comma-separated, full precision: `sample --start` reads it."},
    {"json", NULL, "", "Output", "JSON: how it was found, and the parameters."},
};

const char *const mode_outputs[] = {"output", NULL};

const command command_map = {
    .name = "map",
    .operands = "DATA... [FORMULA] --model NAME [--csv|--json] [-o FILE] [options]",
    .summary = "Find the mode of the posterior.",
    .detail = "Tells the value of each parameter, the potential U there (minus the log "
              "posterior), the norm of its gradient and what the search took.\n\n"
              "  sbps map flights.csv --model logistic --target delayed --method sag",
    .max_operands = SIZE_MAX,
    .flags = mode_flags,
    .flag_count = MODE_FLAGS,
    .outputs = mode_outputs,
    .library_options = true,
    .by_ranks = true,
    .run = map_run,
};
